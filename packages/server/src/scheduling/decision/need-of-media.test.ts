import { expect, it } from "vitest";
import type { GenerationRequest, MessagePart } from "../../formats/index.js";
import { commonStart, outlineOf } from "../state/outline.js";
import { mustCount, needOf } from "./context-need.js";

function showing(...digests: string[]): GenerationRequest {
  const parts = digests.map((digest) => ({
    type: "picture" as const,
    png: Buffer.of(1),
    digest: digest.repeat(64),
    param: "p",
  }));
  return asking(parts);
}

const sound = (digest: string): MessagePart => ({
  type: "sound",
  wav: Buffer.of(1),
  digest: digest.repeat(64),
  param: "p",
});

function asking(parts: MessagePart[]): GenerationRequest {
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

it("a sound is expected to need 1024, and is always counted", () => {
  const [none, one] = [needOf(showing()), needOf(asking([sound("a")]))];
  expect(one.promptEstimate! - none.promptEstimate!).toBe(1_024);
  expect(mustCount(one)).toBe(true);
});

it("a conversation is known by its sounds", () => {
  const outline = outlineOf(asking([sound("a")]));
  expect(commonStart(outline, outlineOf(asking([sound("a")]))).segments).toBe(2);
  expect(commonStart(outline, outlineOf(asking([sound("b")]))).segments).toBe(1);
});

it("a conversation is known by its pictures", () => {
  const outline = outlineOf(showing("a", "b"));
  expect(commonStart(outline, outlineOf(showing("a", "b"))).segments).toBe(2);
  const other = commonStart(outline, outlineOf(showing("a", "c")));
  expect(other.segments).toBe(1);
  expect(other.characters).toBeGreaterThan(2_000);
  expect(commonStart(outline, outlineOf(showing("c", "b"))).characters).toBeLessThan(100);
});
