import { expect, it } from "vitest";
import { readThinking } from "./read-thinking.js";

const PLAIN = { think: false, show: false, insists: null };

it.each<[string, Parameters<typeof readThinking>[0], object]>([
  ["nothing", {}, PLAIN],
  ["think", { think: true }, { think: true, show: true, insists: null }],
  ["think false", { think: false }, PLAIN],
  [
    "a level",
    { reasoning_effort: "low", think: false },
    { think: true, budgetTokens: 512, show: true, insists: null },
  ],
  [
    "minimal as low",
    { reasoning_effort: "minimal" },
    { think: true, budgetTokens: 512, show: true, insists: null },
  ],
  [
    "medium",
    { reasoning_effort: "medium" },
    { think: true, budgetTokens: 2048, show: true, insists: null },
  ],
  [
    "high, hidden",
    { reasoning_effort: "high", show_thinking: false },
    { think: true, budgetTokens: 6144, show: false, insists: null },
  ],
  [
    "the highest level without a budget",
    { reasoning_effort: "xhigh" },
    { think: true, show: true, insists: null },
  ],
  ["the level none over think", { reasoning_effort: "none", think: true }, PLAIN],
  [
    "enable_thinking alone",
    { enable_thinking: true },
    { think: true, show: false, insists: "enable_thinking" },
  ],
  [
    "enable_reasoning, shown",
    { enable_reasoning: true, show_reasoning: true },
    { think: true, show: true, insists: "enable_reasoning" },
  ],
  [
    "enable_thinking false",
    { enable_thinking: false },
    { think: false, show: false, insists: "enable_thinking" },
  ],
  [
    "think over enable_thinking",
    { think: true, enable_thinking: false },
    { think: true, show: true, insists: null },
  ],
])("thoughts are read from %s", (_, body, wanted) => {
  expect(readThinking(body)).toEqual(wanted);
});

it("a field and its other name may not contradict each other", () => {
  const body = { enable_thinking: true, enable_reasoning: false };
  expect(() => readThinking(body)).toThrow("different things");
});
