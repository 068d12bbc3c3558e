import { expect, it } from "vitest";
import type { GenerationRequest } from "../../formats/index.js";
import { request } from "../__fixtures__/scripted-engine.js";
import { commonStart, outlineOf } from "../state/outline.js";
import { indentation, needOf } from "./context-need.js";

const offer = (description: string): Partial<GenerationRequest> => ({
  offer: {
    tools: [{ name: "add", description, parameters: { type: "object" } }],
    choice: "auto",
    parallel: true,
  },
});

it("functions on offer, calls and results count in what a prompt needs", () => {
  const plain = needOf(request());
  const offered = needOf(request(offer("x".repeat(3_000))));
  expect(offered.promptBound).toBeGreaterThan(plain.promptBound + 3_000);
  expect(offered.promptEstimate).toBeGreaterThan(plain.promptEstimate! + 1_000);

  const called = request({
    messages: [
      {
        role: "assistant",
        parts: [],
        calls: [{ id: "c", name: "add", arguments: "x".repeat(3_000) }],
      },
      { role: "tool", parts: [], result: { callId: "c", name: "add" } },
    ],
  });
  expect(needOf(called).promptBound).toBeGreaterThan(plain.promptBound + 3_000);
});

it("a conversation with other functions on offer shares no message with this one", () => {
  const own = outlineOf(request(offer("a")));
  expect(commonStart(own, outlineOf(request(offer("a")))).segments).toBe(own.length);
  expect(commonStart(own, outlineOf(request(offer("b")))).segments).toBe(0);
  expect(commonStart(own, outlineOf(request())).segments).toBe(0);
});

it.each<[unknown]>([
  [[]],
  [{}],
  [[{ a: [], b: {} }, [1, [2, "x"]]]],
  [{ a: { b: { c: [null, true, { d: "e" }] } }, f: undefined }],
  [[undefined, { g: undefined }]],
])("what line breaks and spaces add is told without writing them: %j", (value) => {
  const added = JSON.stringify(value, null, 4).length - JSON.stringify(value).length;
  expect(indentation(value, 4)).toBe(added);
});
