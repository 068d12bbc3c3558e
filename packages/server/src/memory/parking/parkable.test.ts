import { expect, it } from "vitest";
import { type Given, summary } from "../estimate/__fixtures__/summary.js";
import { whyNotParked } from "./parkable.js";

it.each<[string, Given, RegExp | null]>([
  ["a plain decoder", { architecture: "llama" }, null],
  [
    "a sliding window",
    { architecture: "gemma3", layers: 12, heads: 4, slidingWindow: 512 },
    /sliding/,
  ],
  ["a window that the engine ignores", { architecture: "qwen2", slidingWindow: 512 }, null],
  ["recurrent layers", { architecture: "mamba" }, /recurrent/],
  ["an encoder", { architecture: "bert" }, /keeps nothing/],
  ["a further memory", { architecture: "deepseek32" }, /not tried/],
])("%s", (_, given, why) => {
  const told = whyNotParked(summary(given));
  if (why === null) expect(told).toBeNull();
  else expect(told).toMatch(why);
});
