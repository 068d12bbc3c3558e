import { describe, expect, it } from "vitest";
import type { GenerationMessage } from "../../../formats/index.js";
import { toldInWords } from "./told-in-words.js";

const say = (role: GenerationMessage["role"], text: string): GenerationMessage => ({
  role,
  parts: [{ type: "text", text }],
});
const calling: GenerationMessage = {
  role: "assistant",
  parts: [],
  calls: [
    { id: "1", name: "add", arguments: '{"a":1}' },
    { id: "2", name: "now", arguments: "{}" },
  ],
};
const result = (callId: string, text: string): GenerationMessage => ({
  ...say("tool", text),
  result: { callId, name: "add" },
});

const textOf = (message: GenerationMessage) =>
  message.parts.map((part) => (part.type === "text" ? part.text : "[picture]")).join("");

describe("toldInWords", () => {
  it("adds the functions to the system message, or makes one", () => {
    const tools = [{ name: "add", description: "Adds.", parameters: { type: "object" } }];
    const [system, user] = toldInWords([say("system", "Be terse."), say("user", "Hi")], tools);
    expect(textOf(system!)).toMatch(/^Be terse\.\n\nYou can call/);
    expect(textOf(system!)).toContain(
      '{"name":"add","description":"Adds.","parameters":{"type":"object"}}',
    );
    expect(user).toEqual(say("user", "Hi"));
    expect(toldInWords([say("user", "Hi")], tools)[0]!.role).toBe("system");
  });

  it("tells calls and their results as text", () => {
    const told = toldInWords(
      [say("user", "1+1?"), calling, result("1", "2"), result("2", "3")],
      [],
    );
    expect(told.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(textOf(told[1]!)).toBe(
      '<tool_call>\n{"name": "add", "arguments": {"a":1}}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    );
    expect(textOf(told[2]!)).toBe(
      "<tool_response>\n2\n</tool_response>\n<tool_response>\n3\n</tool_response>",
    );
    expect(told.every((message) => !message.calls && !message.result)).toBe(true);
  });

  it("leaves the pictures of a result where they stand in it", () => {
    const picture = { type: "picture", png: Buffer.of(1), digest: "d", param: "p" } as const;
    const { parts, ...shown } = result("1", "before");
    const message = {
      ...shown,
      parts: [...parts, picture, { type: "text" as const, text: "after" }],
    };
    const told = toldInWords([calling, message], []);
    expect(textOf(told[1]!)).toBe("<tool_response>\nbefore\n[picture]\nafter\n</tool_response>");
    expect(told[1]!.parts[1]).toBe(picture);
  });

  it("leaves a conversation without functions as it is", () => {
    const messages = [say("system", "S"), say("user", "Hi"), say("assistant", "Hello")];
    expect(toldInWords(messages, [])).toEqual(messages);
  });
});
