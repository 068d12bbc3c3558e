import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { request } from "../__fixtures__/scripted-engine.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { TOKENIZER_WORK } from "../shell/work.js";
import { expectedTokens, needOf } from "./context-need.js";

const long = request({
  messages: [{ role: "user", parts: [{ type: "text", text: "word ".repeat(1_200) }] }],
});

it("expects a token for three bytes until somebody counts", () => {
  const need = needOf(long);
  expect(expectedTokens(need)).toBe(2_000 + 16);
  expect(expectedTokens({ ...need, promptTokens: 1_200 })).toBe(1_216);
  expect(expectedTokens({ ...need, asked: 4_000 })).toBe(4_000);
  expect(need.promptBound).toBeGreaterThan(6_000);
});

it("expects as much as any request reserves of work that needs nothing itself", () => {
  expect(expectedTokens(TOKENIZER_WORK.need)).toBe(2_048);
});

it("loads a model for a request that is expected to fit, though its bytes would not", () => {
  const world = new World(hostMemory(53_000));
  const need = needOf(long);
  world.open.add(1);
  world.send({
    type: "arrived",
    request: 1,
    terms: terms("a", 50_000),
    need,
    outline: ["plain"],
    keepAliveMs: null,
  } as Parameters<World["send"]>[0]);
  expect(world.pending[0]?.effect).toMatchObject({ type: "load", contextTokens: 3_000 });
});
