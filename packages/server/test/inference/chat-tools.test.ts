import type { ChatChunk, ChatResponse } from "@somnus/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: { templateCaps: { supports_tools: true } },
    template: "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
    toml: `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[[models]]
id = "told"
weights_path = "tiny.gguf"
tools = "prompted"
`,
  });
});
afterAll(() => server.dispose());

const CAPS = { templateCaps: { supports_tools: true } };
const PARIS = { name: "weather", arguments: '{"city":"Paris"}' };
const ROME = { name: "weather", arguments: '{"city":"Rome"}' };
const tool = (name: string) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
});
const tools = [tool("weather"), tool("time")];

async function chat(fields: Record<string, unknown>): Promise<ChatResponse> {
  const response = await server.chat({ tools, ...fields });
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body as ChatResponse;
}

async function stream(fields: Record<string, unknown>): Promise<ChatChunk[]> {
  const response = await server.chat({ tools, stream: true, ...fields });
  return (await readChunks(response)) as ChatChunk[];
}

async function lastBody(): Promise<Record<string, unknown>> {
  const requests = (await server.engine.journal()).filter(({ event }) => event === "request");
  return requests.at(-1)!.body!;
}

describe("a model that calls functions", () => {
  beforeEach(() => server.engine.script({ ...CAPS, answer: "Let me look.", calls: [PARIS, ROME] }));

  it("has its calls in the message, text before them in its content", async () => {
    const [choice] = (await chat({})).choices;
    expect(choice!.finish_reason).toBe("tool_calls");
    expect(choice!.message.content).toBe("Let me look.");
    expect(choice!.message.tool_calls).toEqual([
      { id: expect.stringMatching(/^call_[0-9a-f]+_1$/), type: "function", function: PARIS },
      { id: expect.stringMatching(/^call_[0-9a-f]+_2$/), type: "function", function: ROME },
    ]);
  });

  it("streams each call whole in one chunk, with a rising index", async () => {
    const chunks = await stream({});
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls).toMatchObject([
      { index: 0, type: "function", function: PARIS },
      { index: 1, type: "function", function: ROME },
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(chunks.at(-1)!.choices[0]).toMatchObject({ delta: {}, finish_reason: "tool_calls" });
  });

  it("makes one call at most where several are not wanted", async () => {
    const [choice] = (await chat({ parallel_tool_calls: false })).choices;
    expect(choice!.message.tool_calls).toMatchObject([{ function: PARIS }]);
    expect(await lastBody()).toMatchObject({ parallel_tool_calls: false });
  });

  it("leaves out half a call that was cut by the limit", async () => {
    const [choice] = (await chat({ max_tokens: 5 })).choices;
    expect(choice!.finish_reason).toBe("length");
    expect(choice!.message.tool_calls).toBeUndefined();
  });

  it("does not see them with tool_choice none", async () => {
    await chat({ tool_choice: "none" });
    expect(await lastBody()).not.toHaveProperty("tools");
  });
});

describe("an answer that has to be a call", () => {
  const named = { type: "function", function: { name: "weather" } };

  it.each([
    ["required", "required", `[${JSON.stringify({ name: "time", arguments: {} })}]`, "time"],
    ["a named function", named, '{"name": "weather", "arguments": {"city": "Oslo"}}', "weather"],
  ])("is held to it, whole and streamed: %s", async (_, tool_choice, answer, name) => {
    await server.engine.script({ ...CAPS, answer });
    const [choice] = (await chat({ tool_choice })).choices;
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: "", tool_calls: [{ function: { name } }] },
    });
    expect(await lastBody()).toMatchObject({ response_format: { type: "json_schema" } });
    const chunks = await stream({ tool_choice });
    expect(chunks.some((chunk) => chunk.choices[0]?.delta.content)).toBe(false);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("tool_calls");
  });

  it("is read from what the model writes where nothing held it", async () => {
    await server.engine.script({
      ...CAPS,
      answer: `\`\`\`json\n${JSON.stringify({ name: "time", arguments: {} })}\n\`\`\``,
    });
    const [choice] = (await chat({})).choices;
    expect(choice!.message).toMatchObject({
      content: "",
      tool_calls: [{ function: { name: "time", arguments: "{}" } }],
    });
  });
});

describe("a conversation with calls", () => {
  const call = { id: "c1", type: "function", function: PARIS };
  const turn = (assistant: object, result: object) => [
    { role: "user", content: "Weather?" },
    { role: "assistant", ...assistant },
    { role: "tool", tool_call_id: "c1", ...result },
  ];

  it.each([
    ["null content", turn({ content: null, tool_calls: [call] }, { content: "18" })],
    ["empty content", turn({ content: "", tool_calls: [call] }, { content: "18" })],
    ["no content", turn({ tool_calls: [call] }, { content: [{ type: "text", text: "18" }] })],
  ])("reaches the engine with its results: %s", async (_, messages) => {
    await server.engine.script({ ...CAPS, answer: "It is 18." });
    await chat({ messages });
    const body = await lastBody();
    expect(body.messages).toEqual([
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: "18", tool_call_id: "c1", name: "weather" },
    ]);
  });

  it("may be in the older form", async () => {
    await server.engine.script({ ...CAPS, answer: "It is 18." });
    const functions = tools.map((entry) => entry.function);
    const messages = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, function_call: PARIS },
      { role: "function", name: "weather", content: "18" },
    ];
    await chat({ tools: undefined, functions, function_call: "auto", messages });
    const body = await lastBody();
    expect(body.tools).toEqual(tools);
    expect((body.messages as object[])[2]).toMatchObject({ role: "tool", content: "18" });
  });

  it("is told in words to a model that is set so", async () => {
    await server.engine.script({
      answer: `<tool_call>${JSON.stringify(PARIS).replace(/"(\{.*\})"/, "$1")}</tool_call>`,
    });
    const messages = turn({ content: null, tool_calls: [call] }, { content: "18" });
    await chat({ model: "told", messages });
    const body = await lastBody();
    expect(body).not.toHaveProperty("tools");
    expect((body.messages as { role: string }[]).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
  });
});

const user = { role: "user", content: "Hi" };
const assistant = (...calls: object[]) => ({ role: "assistant", tool_calls: calls });
const made = (id: string, args = "{}") => ({
  id,
  type: "function",
  function: { name: "weather", arguments: args },
});
const result = (tool_call_id?: string) => ({ role: "tool", tool_call_id, content: "x" });
const parameters = (schema: unknown) => ({
  tools: [{ type: "function", function: { name: "f", parameters: schema } }],
});

describe("a wrong request with functions", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["a choice without functions", { tools: [], tool_choice: "required" }, "tool_choice"],
    ["a choice without a list", { tools: undefined, tool_choice: "auto" }, "tool_choice"],
    ["an unknown choice", { tool_choice: "any" }, "tool_choice"],
    [
      "a name that is not offered",
      { tool_choice: { type: "function", function: { name: "rm" } } },
      "tool_choice",
    ],
    [
      "another kind of tool",
      { tools: [{ type: "web_search", function: { name: "f" } }] },
      "tools[0].type",
    ],
    [
      "a tool without a name",
      { tools: [{ type: "function", function: {} }] },
      "tools[0].function.name",
    ],
    ["a name twice", { tools: [tool("a"), tool("a")] }, "tools[1].function.name"],
    ["a list as parameters", parameters([]), "tools[0].function.parameters"],
    [
      "arguments that are no object",
      parameters({ type: "string" }),
      "tools[0].function.parameters",
    ],
    [
      "a wrong schema",
      parameters({ type: "object", properties: { a: { type: "banana" } } }),
      "tools[0].function.parameters",
    ],
    [
      "a wrong schema in the older form",
      { tools: undefined, functions: [{ name: "f", parameters: { anyOf: [] } }] },
      "functions[0].parameters",
    ],
    ["a result of no call", { messages: [user, result("c9")] }, "messages[1].tool_call_id"],
    [
      "a result that names no call",
      { messages: [user, assistant(made("c1")), result()] },
      "messages[2].tool_call_id",
    ],
    [
      "an id twice",
      { messages: [user, assistant(made("a"), made("a")), result("a")] },
      "messages[1].tool_calls[1].id",
    ],
    [
      "past arguments that do not parse",
      { messages: [user, assistant(made("a", '{"a":')), result("a")] },
      "messages[1].tool_calls[0].function.arguments",
    ],
    [
      "past arguments that are no object",
      { messages: [user, assistant(made("a", "[1]")), result("a")] },
      "messages[1].tool_calls[0].function.arguments",
    ],
    [
      "calls without results at the end",
      { messages: [user, assistant(made("a"))] },
      "messages[1].tool_calls",
    ],
    [
      "a user who calls",
      { messages: [{ ...user, tool_calls: [made("a")] }, result("a")] },
      "messages[0].tool_calls",
    ],
  ])("is refused by name: %s", async (_, fields, param) => {
    const response = await server.chat({ tools, ...fields });
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ param, type: "invalid_request_error" });
    expect(response.status).toBe(400);
  });

  it("says where a schema is wrong", async () => {
    const response = await server.chat(
      parameters({ type: "object", properties: { a: { type: "string", pattern: "(" } } }),
    );
    expect(await response.text()).toContain("#/properties/a");
  });

  it("takes empty past arguments for none", async () => {
    await server.engine.script({ ...CAPS, answer: "ok" });
    const messages = [user, assistant(made("a", "")), result("a")];
    await chat({ messages });
  });
});
