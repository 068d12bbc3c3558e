import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
let client: OpenAI;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 8192
[[models]]
id = "smollm2:135m"
context_len = 4096
tools = "prompted"
`,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

const model = "qwen2.5-coder:0.5b";

/** Three functions that note their calls. */
function threeTools(called: string[]) {
  const note = (name: string, result: unknown) => (args: Record<string, unknown>) => {
    called.push(`${name} ${JSON.stringify(args)}`);
    return JSON.stringify(result);
  };
  const tool = (
    name: string,
    description: string,
    properties: Record<string, object>,
    result: unknown,
  ) => ({
    type: "function" as const,
    function: {
      name,
      description,
      parameters: { type: "object", properties, required: Object.keys(properties) },
      parse: (text: string) => JSON.parse(text) as Record<string, unknown>,
      function: note(name, result),
    },
  });
  const city = { city: { type: "string" } };
  return [
    tool("get_weather", "Current weather of a city", city, { celsius: 18, sky: "sunny" }),
    tool("get_time", "Local time of a city", city, { time: "14:05" }),
    tool("add", "Add two numbers", { a: { type: "number" }, b: { type: "number" } }, { sum: 42 }),
  ];
}

const plainTools = () =>
  threeTools([]).map(({ type, function: { name, description, parameters } }) => ({
    type,
    function: { name, description, parameters },
  }));

const ask = (content: string) => [{ role: "user" as const, content }];

describe("the OpenAI SDK's tool runner with a real model", () => {
  it.each([
    ["What is the weather in Paris right now?", "get_weather"],
    ["What time is it in Tokyo?", "get_time"],
    ["Use the add tool to add 19 and 23.", "add"],
  ])("runs the loop to its end: %s", async (question, name) => {
    const called: string[] = [];
    const runner = client.chat.completions.runTools(
      {
        model,
        messages: ask(question),
        tools: threeTools(called),
        temperature: 0,
        max_tokens: 200,
      },
      { maxChatCompletions: 4 },
    );
    const answer = await runner.finalContent();
    expect(called[0]).toContain(name);
    expect(answer).not.toBe("");
    expect(runner.messages.map(({ role }) => role).slice(0, 4)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  it("runs it streamed as well", async () => {
    const called: string[] = [];
    const runner = client.chat.completions.runTools(
      {
        model,
        messages: ask("What is the weather in Paris right now?"),
        tools: threeTools(called),
        temperature: 0,
        max_tokens: 200,
        stream: true,
      },
      { maxChatCompletions: 4 },
    );
    await runner.done();
    expect(called[0]).toMatch(/get_weather.*Paris/);
    expect(await runner.finalContent()).not.toBe("");
  });

  it("calls the function that is named, and is held to its parameters", async () => {
    const called: string[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages: ask("Hello! 2 and 3, please."),
      tools: threeTools(called),
      tool_choice: { type: "function", function: { name: "add" } },
      temperature: 0,
    });
    await runner.done();
    expect(called).toHaveLength(1);
    const args = JSON.parse(called[0]!.slice("add ".length));
    expect(Object.keys(args).sort()).toEqual(["a", "b"]);
    expect(Object.values(args).every((value) => typeof value === "number")).toBe(true);
  });
});

describe("tool_choice with a real model", () => {
  it("required makes a call of a chat that needs none, whole and streamed", async () => {
    const fields = {
      model,
      messages: ask("Tell me a joke."),
      tools: plainTools(),
      tool_choice: "required" as const,
      temperature: 0,
      max_tokens: 200,
    };
    const whole = await client.chat.completions.create(fields);
    const [choice] = whole.choices;
    expect(choice!.finish_reason).toBe("tool_calls");
    expect(choice!.message.content).toBe("");
    const streamed = await client.chat.completions.stream(fields).finalChatCompletion();
    const names = (answer: OpenAI.ChatCompletion) =>
      answer.choices[0]!.message.tool_calls!.map(
        (call) => call.type === "function" && [call.function.name, call.function.arguments],
      );
    expect(names(streamed)).toEqual(names(whole));
    expect(streamed.choices[0]!.finish_reason).toBe("tool_calls");
  });

  it("works for a model whose template knows no functions, when it is told in words", async () => {
    const answer = await client.chat.completions.create({
      model: "smollm2:135m",
      messages: ask("Weather in Rome?"),
      tools: plainTools(),
      tool_choice: { type: "function", function: { name: "get_weather" } },
      temperature: 0,
      max_tokens: 100,
    });
    expect(answer.choices[0]!.finish_reason).toBe("tool_calls");
    const [call] = answer.choices[0]!.message.tool_calls!;
    expect(call).toMatchObject({ function: { name: "get_weather" } });
  });

  it("and the limit together leave out half a call", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: ask("Weather in Rome?"),
      tools: plainTools(),
      tool_choice: "required",
      max_tokens: 8,
    });
    expect(answer.choices[0]!.finish_reason).toBe("length");
    expect(answer.choices[0]!.message.tool_calls).toBeUndefined();
  });
});

describe("the prompt with functions", () => {
  it("is computed once: a later turn computes only what is new, whatever the choice", async () => {
    const tools = plainTools();
    const messages: OpenAI.ChatCompletionMessageParam[] = ask("What is the weather in Oslo?");
    const turn = async (tool_choice: OpenAI.ChatCompletionToolChoiceOption) => {
      const answer = await client.chat.completions.create({
        model,
        messages,
        tools,
        tool_choice,
        temperature: 0,
        max_tokens: 100,
      });
      return { message: answer.choices[0]!.message, usage: answer.usage! };
    };
    const first = await turn({ type: "function", function: { name: "get_weather" } });
    expect(first.usage.prompt_tokens).toBeGreaterThan(250);
    messages.push(first.message, {
      role: "tool",
      tool_call_id: first.message.tool_calls![0]!.id,
      content: '{"celsius": 3}',
    });
    const second = await turn("auto");
    const fresh = second.usage.prompt_tokens - second.usage.prompt_tokens_details!.cached_tokens!;
    expect(fresh).toBeLessThan(80);
    expect(second.usage.prompt_tokens).toBeGreaterThan(first.usage.prompt_tokens + 20);
  });
});
