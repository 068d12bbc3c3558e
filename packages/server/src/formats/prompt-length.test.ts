import { expect, it } from "vitest";
import type { GenerationMessage as Message, NamedMedia } from "./generation.js";
import { requirePromptWithin } from "./prompt-length.js";

type GenerationMessage = Message<NamedMedia>;

const say = (...texts: string[]): GenerationMessage => ({
  role: "user",
  parts: texts.map((text) => ({ type: "text", text })),
});
const refusal = (message: RegExp, param = "messages") =>
  expect.objectContaining({
    code: "invalid_request",
    param,
    message: expect.stringMatching(message),
  });

it("texts, calls and results have a length together", () => {
  const messages: GenerationMessage[] = [
    say("ab", "c"),
    { role: "assistant", parts: [], calls: [{ id: "id", name: "name", arguments: "{}" }] },
    { role: "tool", parts: [], result: { callId: "id", name: "name" } },
  ];
  expect(() => requirePromptWithin(messages, 17)).not.toThrow();
  expect(() => requirePromptWithin(messages, 16)).toThrow(refusal(/have 17 characters/));
});

it("a conversation has no more pieces than a prompt can have, however little they say", () => {
  const parts = say(...Array<string>(65_535).fill(""));
  expect(() => requirePromptWithin([parts], 0, "input")).not.toThrow();
  expect(() => requirePromptWithin([parts, say()], 0, "input")).toThrow(
    refusal(/65537 messages, parts and calls/, "input"),
  );
});
