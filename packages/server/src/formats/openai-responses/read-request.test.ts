import type { ResponsesRequest } from "@somnus/contract";
import { describe, expect, it } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { ID, read, written } from "./__fixtures__/written.js";
import { neededBy } from "./index.js";

const add = { type: "function", name: "add", parameters: { type: "object" } };
const called = { type: "function_call" as const, call_id: "c", name: "add", arguments: "{}" };
const result = { type: "function_call_output" as const, call_id: "c", output: "3" };

describe("a request", () => {
  it("of a text is one message after the instructions", () => {
    const { generation, store, stream } = read({ instructions: "Be brief.", input: "Hi" });
    expect(generation).toMatchObject({
      messages: [
        { role: "system", parts: [{ type: "text", text: "Be brief." }] },
        { role: "user", parts: [{ type: "text", text: "Hi" }] },
      ],
      maxTokens: 50,
      choices: 1,
      think: false,
    });
    expect({ store, stream }).toEqual({ store: true, stream: false });
  });

  it("of items keeps their order; calls belong to what the assistant said before them", () => {
    const { generation, wants } = read({
      input: [
        { role: "developer", content: "D" },
        { type: "message", role: "user", content: [{ type: "input_text", text: "U" }] },
        { type: "reasoning", summary: [] },
        { role: "assistant", content: [{ type: "output_text", text: "A" }] },
        called,
        { ...result, output: [{ type: "input_text", text: "3" }] },
      ],
    });
    expect(generation.messages).toEqual([
      { role: "system", parts: [{ type: "text", text: "D" }] },
      { role: "user", parts: [{ type: "text", text: "U" }] },
      {
        role: "assistant",
        parts: [{ type: "text", text: "A" }],
        calls: [{ id: "c", name: "add", arguments: "{}" }],
      },
      {
        role: "tool",
        parts: [{ type: "text", text: "3" }],
        result: { callId: "c", name: "add" },
      },
    ]);
    // Models that have no form for calls are told of earlier ones in words.
    expect(wants).toEqual([]);
  });

  it("offers its functions, and leaves other kinds of tools out", () => {
    const asked = read({ tools: [{ type: "web_search" }, add], parallel_tool_calls: false });
    expect(asked.skippedTools).toEqual(["web_search"]);
    expect(asked.generation.offer).toEqual({
      tools: [{ name: "add", parameters: { type: "object" } }],
      choice: "auto",
      parallel: false,
    });
    expect(asked.wants).toEqual([{ capability: "tools", param: "tools" }]);
    const offerOf = (choice: NonNullable<ResponsesRequest["tool_choice"]>) =>
      read({ tools: [add, { ...add, name: "sub" }], tool_choice: choice }).generation.offer;
    expect(offerOf("none")).toBeUndefined();
    expect(offerOf("required")?.choice).toBe("required");
    expect(offerOf({ type: "function", name: "add" })?.choice).toEqual({ name: "add" });
    expect(
      offerOf({
        type: "allowed_tools",
        mode: "required",
        tools: [{ type: "function", name: "sub" }],
      }),
    ).toMatchObject({ tools: [{ name: "sub" }], choice: "required" });
    expect(read({ tools: [] }).generation.offer).toBeUndefined();
  });

  it("asks for thoughts with an effort or a summary", () => {
    const thoughts = (reasoning: NonNullable<ResponsesRequest["reasoning"]> | null) =>
      read({ reasoning }).thoughts;
    expect(thoughts({ effort: "low" })).toBe("text");
    expect(thoughts({ effort: "none", summary: "auto" })).toBe("none");
    expect(thoughts({ summary: "auto" })).toBe("summary");
    expect(thoughts(null)).toBe("none");
    expect(read({ reasoning: { effort: "low" } }).generation.thinkBudgetTokens).toBe(512);
    expect(read({ reasoning: { effort: "xhigh" } }).generation).not.toHaveProperty(
      "thinkBudgetTokens",
    );
  });

  it("goes on from kept responses, and names their items", async () => {
    const first = read({ input: "One" });
    const { response } = await written([
      { type: "reasoning", choice: 0, text: "Hm" },
      { type: "text", choice: 0, text: "Two" },
      { type: "finish", choice: 0, reason: "stop" },
    ]);
    const kept = { id: ID, input: first.input, output: response.output };
    const onwards = read({ input: "Three" }, { chain: [kept], responses: [] });
    const texts = onwards.generation.messages.map(({ role, parts: [part] }) =>
      part?.type === "text" ? `${role} ${part.text}` : role,
    );
    expect(texts).toEqual(["user One", "assistant Two", "user Three"]);
    expect(onwards.input).toHaveLength(1);

    const id = response.output[0]!.id;
    const body = { input: [{ type: "item_reference" as const, id }] };
    expect(neededBy(body)).toEqual({ previous: null, responses: [ID] });
    const named = read(body, { chain: [], responses: [kept] });
    expect(named.generation.messages).toEqual([
      { role: "assistant", parts: [{ type: "text", text: "Two" }] },
    ]);
  });
});

describe("a request is refused by name", () => {
  const deep = `{"a":${"[".repeat(80)}${"]".repeat(80)}}`;
  it.each<[string, Partial<ResponsesRequest>]>([
    ["background", { background: true }],
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "p" } }],
    ["input", { input: [] }],
    ["input", { input: "x".repeat(2_000) }],
    ["input[0].call_id", { input: [result] }],
    ["input[0].arguments", { input: [{ ...called, arguments: "[]" }] }],
    ["input[0].arguments", { input: [{ ...called, arguments: deep }] }],
    ["input[0].id", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["input[0].content[0]", { input: [{ role: "user", content: [{ type: "input_file" }] }] }],
    ["tools[0].name", { tools: [{ type: "function" }] }],
    ["tools[1].name", { tools: [add, add] }],
    ["tools[0].parameters.type", { tools: [{ ...add, parameters: { type: "array" } }] }],
    ["tool_choice", { tool_choice: "required" }],
    ["tool_choice", { tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }],
    ["tool_choice.type", { tools: [add], tool_choice: { type: "web_search" } }],
    ["tool_choice.name", { tools: [add], tool_choice: { type: "function", name: "sub" } }],
    ["tool_choice.tools", { tools: [add], tool_choice: { type: "allowed_tools" } }],
    ["text.format.schema", { text: { format: { type: "json_schema", schema: JSON.parse(deep) } } }],
  ])("%s", (param, body) => {
    expect(() => read(body)).toThrow(SomnusError);
    expect(() => read(body)).toThrow(expect.objectContaining({ code: "invalid_request", param }));
  });

  it("previous_response_id that is none", () => {
    const body = { input: "Hi", previous_response_id: "resp_1" };
    expect(() => neededBy(body)).toThrow(
      expect.objectContaining({ param: "previous_response_id" }),
    );
  });
});
