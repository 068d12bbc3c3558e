import { MessagesRequest } from "@somnus/contract";
import Value from "typebox/value";
import { describe, expect, it } from "vitest";
import { type MessagesCall, readMessagesRequest } from "./index.js";

const limits = { max_prompt_chars: 1_000, max_tokens_cap: 100 };
const user = { role: "user", content: "Hello" };

function read(fields: Record<string, unknown>): MessagesCall {
  const body: unknown = { model: "m", max_tokens: 50, messages: [user], ...fields };
  expect([...Value.Errors(MessagesRequest, body)]).toEqual([]);
  return readMessagesRequest(body as MessagesRequest, limits);
}
const messages = (...given: unknown[]) => read({ messages: given }).generation.messages;
const refused = (fields: Record<string, unknown>) => {
  try {
    read(fields);
  } catch (error) {
    return (error as { param?: string }).param;
  }
  return undefined;
};
const text = (said: string) => ({ type: "text", text: said });
const use = (id: string, name = "look") => ({ type: "tool_use", id, name, input: { at: id } });
const result = (id: string, more: Record<string, unknown> = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  ...more,
});
const look = { name: "look", description: "Looks.", input_schema: { type: "object" } };

describe("a body of the Messages API", () => {
  it("is read, its system text first", () => {
    expect(
      read({
        system: [{ ...text("Be brief."), cache_control: { type: "ephemeral" } }, text("Be kind.")],
        max_tokens: 500,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        stop_sequences: ["END"],
        stream: true,
        metadata: { user_id: "u" },
      }),
    ).toEqual({
      model: "m",
      generation: {
        messages: [
          { role: "system", parts: [text("Be brief."), text("Be kind.")] },
          { role: "user", parts: [text("Hello")] },
        ],
        maxTokens: 100,
        sampling: { temperature: 0.5, topP: 0.9, topK: 40 },
        stop: ["END"],
        choices: 1,
        think: false,
      },
      stream: true,
      showThoughts: false,
      wants: [],
    });
  });

  it("takes null for absent", () => {
    const nothing = { system: null, tools: null, tool_choice: null, thinking: null };
    expect(read({ ...nothing, stop_sequences: null, temperature: null, stream: null })).toEqual(
      read({}),
    );
  });

  it("loses the line of an accounting that differs each time", () => {
    const line = text("x-anthropic-billing-header: cc_version=1; cch=ab12;");
    expect(read({ system: [line, text("Be brief.")] }).generation.messages[0]).toEqual({
      role: "system",
      parts: [text("Be brief.")],
    });
  });

  it("may ask for JSON that fits a schema, under both names", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const json = { schema: format.schema };
    expect(read({ output_config: { format } }).generation.json).toEqual(json);
    expect(read({ output_format: format }).generation.json).toEqual(json);
    expect(read({ output_config: { effort: "low" } }).generation.json).toBeUndefined();
  });

  it("brings its whole conversation", () => {
    expect(refused({ thread: { type: "create" } })).toBe("thread");
    expect(refused({ thread: null })).toBeUndefined();
  });

  it("is held to the limit of characters", () => {
    expect(refused({ system: "x".repeat(996) })).toBe("messages");
    expect(refused({ system: "x".repeat(995) })).toBeUndefined();
  });
});

describe("a conversation", () => {
  it("keeps results in their order, and before the text that follows them", () => {
    expect(
      messages(
        user,
        { role: "assistant", content: [text("I look."), use("a"), use("b", "ask")] },
        {
          role: "user",
          content: [
            result("b", { content: [text("two"), text("parts")] }),
            result("a", { content: "gone", is_error: true }),
            text("And?"),
          ],
        },
      ).slice(1),
    ).toEqual([
      {
        role: "assistant",
        parts: [text("I look.")],
        calls: [
          { id: "a", name: "look", arguments: '{"at":"a"}' },
          { id: "b", name: "ask", arguments: '{"at":"b"}' },
        ],
      },
      { role: "tool", parts: [text("two"), text("parts")], result: { callId: "b", name: "ask" } },
      {
        role: "tool",
        parts: [text("Error:"), text("gone")],
        result: { callId: "a", name: "look" },
      },
      { role: "user", parts: [text("And?")] },
    ]);
  });

  it("loses thoughts, joins what one side says, and may have system text in the middle", () => {
    expect(
      messages(
        user,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "redacted_thinking", data: "x" },
            text("Hi."),
          ],
        },
        { role: "assistant", content: "There." },
        { role: "system", content: "Be brief." },
        { role: "user", content: [text("")] },
      ).slice(1),
    ).toEqual([
      { role: "assistant", parts: [text("Hi."), text("There.")] },
      { role: "system", parts: [text("Be brief.")] },
      { role: "user", parts: [text("")] },
    ]);
  });

  it("ends with the beginning of the answer, unless that is empty", () => {
    const begun = { role: "assistant", content: "The answer is" };
    expect(messages(user, begun).at(-1)).toEqual({
      role: "assistant",
      parts: [text("The answer is")],
    });
    expect(messages(user, { role: "assistant", content: [] })).toHaveLength(1);
    expect(messages(user, { role: "assistant", content: "" })).toHaveLength(1);
    expect(messages({ role: "user", content: [] })).toEqual([{ role: "user", parts: [] }]);
  });

  it("has documents and findings as text", () => {
    const content = [
      {
        type: "document",
        title: "Notes",
        source: { type: "text", media_type: "text/plain", data: "a" },
      },
      { type: "document", source: { type: "content", content: [text("b")] } },
      { type: "search_result", title: "T", source: "https://x.test", content: [text("c")] },
    ];
    const [message] = messages({ role: "user", content });
    expect(message!.parts.map((part) => (part.type === "text" ? part.text : part.type))).toEqual([
      ...["Notes", "a", "b", "T", "https://x.test", "c"],
    ]);
  });

  it("tells what it needs of the model, and where", () => {
    const image = { type: "image", source: { type: "url", url: "https://x.test/a.png" } };
    const { wants } = read({
      messages: [
        { role: "user", content: [image] },
        { role: "assistant", content: [use("a")] },
        { role: "user", content: [result("a", { content: [image] })] },
      ],
    });
    expect(wants).toEqual([
      { capability: "vision", param: "messages[0].content[0]" },
      { capability: "vision", param: "messages[2].content[0].content[0]" },
    ]);
  });

  it.each([
    [[user, { role: "user", content: [result("a")] }], "messages[1].content[0].tool_use_id"],
    [
      [
        { role: "assistant", content: [use("a")] },
        { role: "user", content: [result("a"), result("a")] },
      ],
      "messages[1].content[1].tool_use_id",
    ],
    [[user, { role: "assistant", content: [use("a")] }], "messages[1].content[0]"],
    [[{ role: "assistant", content: [use("a"), use("a")] }, user], "messages[0].content[1].id"],
    [[{ role: "user", content: [use("a")] }], "messages[0].content[0]"],
    [[{ role: "assistant", content: [result("a")] }], "messages[0].content[0]"],
    [[{ role: "assistant", content: [] }], "messages"],
    [[{ role: "system", content: "x" }], "messages"],
    [
      [{ role: "user", content: [{ type: "document", source: { type: "url", url: "x" } }] }],
      "messages[0].content[0].source",
    ],
  ])("is refused by name: %j", (given, param) => {
    expect(refused({ messages: given })).toBe(param);
  });
});

describe("tools", () => {
  const offer = (fields: Record<string, unknown>) =>
    read({ tools: [look], ...fields }).generation.offer;
  const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];

  it.each([
    [undefined, { choice: "auto", parallel: true }],
    [{ type: "auto" }, { choice: "auto", parallel: true }],
    [{ type: "any" }, { choice: "required", parallel: true }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { choice: "required", parallel: false },
    ],
    [
      { type: "tool", name: "look" },
      { choice: { name: "look" }, parallel: true },
    ],
  ])("are offered as %j says", (tool_choice, how) => {
    expect(offer({ tool_choice })).toEqual({ tools, ...how });
    expect(read({ tools: [look], tool_choice }).wants).toEqual([
      { capability: "tools", param: "tools" },
    ]);
  });

  it("are not shown with none, nor where there are none", () => {
    expect(offer({ tool_choice: { type: "none" } })).toBeUndefined();
    expect(read({ tools: [look], tool_choice: { type: "none" } }).wants).toEqual([]);
    expect(read({ tools: [] }).generation.offer).toBeUndefined();
  });

  it.each([
    [{ tools: [look, look] }, "tools[1].name"],
    [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools[0].type"],
    [{ tools: [{ name: "a" }] }, "tools[0].input_schema"],
    [{ tools: [{ name: "a", input_schema: {} }] }, "tools[0].input_schema.type"],
    [{ tool_choice: { type: "any" } }, "tool_choice"],
    [{ tools: [], tool_choice: { type: "auto" } }, "tool_choice"],
    [{ tools: [look], tool_choice: { type: "tool", name: "x" } }, "tool_choice.name"],
  ])("are refused by name: %j", (fields, param) => {
    expect(refused(fields)).toBe(param);
  });
});

describe("thinking", () => {
  it.each([
    [{ type: "enabled", budget_tokens: 1024 }, true, true, 1024],
    [{ type: "adaptive" }, true, true, undefined],
    [{ type: "adaptive", display: "omitted" }, true, false, undefined],
    [{ type: "disabled" }, false, false, undefined],
  ])("%j", (thinking, think, showThoughts, thinkBudgetTokens) => {
    const call = read({ thinking });
    expect(call.showThoughts).toBe(showThoughts);
    expect(call.generation.think).toBe(think);
    expect(call.generation.thinkBudgetTokens).toBe(thinkBudgetTokens);
  });

  it.each([
    [{ type: "adaptive" }, "low", 512],
    [{ type: "adaptive" }, "high", 6144],
    [{ type: "adaptive" }, "max", undefined],
    [{ type: "enabled", budget_tokens: 1024 }, "low", 1024],
    [{ type: "disabled" }, "low", undefined],
  ])("%j with effort %s", (thinking, effort, budget) => {
    const { generation } = read({ thinking, output_config: { effort } });
    expect(generation.thinkBudgetTokens).toBe(budget);
  });
});
