import { expect, it } from "vitest";
import type { GenerationRequest } from "../../formats/index.js";
import { commonStart, outlineOf } from "../state/outline.js";
import { mustCount, needOf } from "./context-need.js";

function showing(...digests: string[]): GenerationRequest {
  const parts = digests.map((digest) => ({
    type: "picture" as const,
    png: Buffer.of(1),
    digest: digest.repeat(64),
    param: "p",
  }));
  return {
    messages: [{ role: "user", parts: [{ type: "text", text: "Look:" }, ...parts] }],
    maxTokens: 16,
    sampling: {},
    stop: [],
    choices: 1,
    think: false,
  };
}

it("a picture is expected to need 576 tokens, and is always counted", () => {
  const [none, two] = [needOf(showing()), needOf(showing("a", "b"))];
  expect(two.promptEstimate! - none.promptEstimate!).toBe(2 * 576);
  expect(mustCount(none)).toBe(false);
  expect(mustCount(two)).toBe(true);
  expect(mustCount({ ...two, promptTokens: 1_200 })).toBe(false);
});

it("a conversation is known by its pictures", () => {
  const outline = outlineOf(showing("a", "b"));
  expect(commonStart(outline, outlineOf(showing("a", "b"))).segments).toBe(2);
  const other = commonStart(outline, outlineOf(showing("a", "c")));
  expect(other.segments).toBe(1);
  expect(other.characters).toBeGreaterThan(2_000);
  expect(commonStart(outline, outlineOf(showing("c", "b"))).characters).toBeLessThan(100);
});
