import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { generateText, jsonSchema, stepCountIs, streamText, type ToolChoice, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
let client: Anthropic;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 4096
`,
  });
  client = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

const model = "qwen2.5-coder:0.5b";
/** The API takes it, though the SDK's types have dropped it. */
const cold: object = { temperature: 0 };
const question =
  "Find the number of the user Ada, get the balance of that number, and then send it to Ada.";

/** So small a model chooses badly: which tool comes next is said, what it is called with is the model's. */
const ORDER = ["find_user", "get_balance", "send_mail"] as const;
type Name = (typeof ORDER)[number];

const SCHEMAS = {
  find_user: {
    type: "object",
    properties: { name: { type: "string", maxLength: 30 } },
    required: ["name"],
    additionalProperties: false,
  },
  get_balance: {
    type: "object",
    properties: { number: { type: "integer", minimum: 0, maximum: 9999 } },
    required: ["number"],
    additionalProperties: false,
  },
  send_mail: {
    type: "object",
    properties: {
      to: { type: "string", maxLength: 30 },
      text: { type: "string", maxLength: 60 },
    },
    required: ["to", "text"],
    additionalProperties: false,
  },
} as const;
const DESCRIPTIONS: Record<Name, string> = {
  find_user: "Finds the number of a user.",
  get_balance: "Gets the balance of a number.",
  send_mail: "Sends a text to a user.",
};
const ANSWERS: Record<Name, string> = {
  find_user: "Ada has the number 42.",
  get_balance: "The balance of 42 is 17 euros.",
  send_mail: "It was sent.",
};

/** Three tools for the SDK's runner, and what they were called with. */
function toolbox() {
  const calls: [Name, Record<string, unknown>][] = [];
  const run = (name: Name) => (input: object) => {
    calls.push([name, input as Record<string, unknown>]);
    return ANSWERS[name];
  };
  return { calls, run };
}

describe("the Anthropic SDK, unmodified, with tools", () => {
  it("gets the call that it asks for, its input an object, whole and streamed", async () => {
    const fields = {
      model,
      max_tokens: 100,
      ...cold,
      messages: [{ role: "user" as const, content: "Which number has the user Ada?" }],
      tools: [
        {
          name: "find_user",
          description: DESCRIPTIONS.find_user,
          input_schema: SCHEMAS.find_user as unknown as Anthropic.Tool.InputSchema,
        },
      ],
      tool_choice: { type: "any" as const },
    };
    const whole = await client.messages.create(fields);
    expect(whole.stop_reason).toBe("tool_use");
    const use = whole.content.at(-1)!;
    if (use.type !== "tool_use") throw new Error(`${use.type} instead of a call`);
    expect(use).toMatchObject({ name: "find_user", id: expect.stringMatching(/^[\w-]+$/) });
    expect(use.input).toMatchObject({ name: expect.stringMatching(/ada/i) });

    const stream = client.messages.stream(fields);
    const json: string[] = [];
    stream.on("inputJson", (piece) => json.push(piece));
    const last = await stream.finalMessage();
    expect(last.stop_reason).toBe("tool_use");
    expect(last.content.at(-1)).toMatchObject({ name: "find_user", input: use.input });
    expect(JSON.parse(json.join(""))).toEqual(use.input);
  });

  it("counts the tokens of tools", async () => {
    const prompt = { model, messages: [{ role: "user" as const, content: question }] };
    const plain = await client.messages.countTokens(prompt);
    const input_schema = SCHEMAS.send_mail as unknown as Anthropic.Tool.InputSchema;
    const tools = [{ name: "send_mail", input_schema }];
    const counted = await client.messages.countTokens({ ...prompt, tools });
    expect(counted.input_tokens).toBeGreaterThan(plain.input_tokens + 30);
    const { usage } = await client.messages.create({ ...prompt, tools, max_tokens: 1 });
    expect(usage.input_tokens + usage.cache_read_input_tokens!).toBe(counted.input_tokens);
  });

  it("runs three tools one after the other and ends with an answer", async () => {
    const { calls, run } = toolbox();
    const tools = [
      betaTool({
        name: "find_user",
        description: DESCRIPTIONS.find_user,
        inputSchema: SCHEMAS.find_user,
        run: run("find_user"),
      }),
      betaTool({
        name: "get_balance",
        description: DESCRIPTIONS.get_balance,
        inputSchema: SCHEMAS.get_balance,
        run: run("get_balance"),
      }),
      betaTool({
        name: "send_mail",
        description: DESCRIPTIONS.send_mail,
        inputSchema: SCHEMAS.send_mail,
        run: run("send_mail"),
      }),
    ];
    const choice = (step: number) => {
      const name = ORDER[step];
      return name === undefined
        ? { type: "none" as const }
        : { type: "tool" as const, name, disable_parallel_tool_use: true };
    };
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 100,
      ...cold,
      messages: [{ role: "user", content: question }],
      tools,
      tool_choice: choice(0),
    });
    let step = 0;
    const usages: Anthropic.Beta.BetaUsage[] = [];
    for await (const message of runner) {
      usages.push(message.usage);
      step++;
      if (message.stop_reason !== "tool_use") break;
      runner.setMessagesParams((params) => ({
        ...params,
        tool_choice: choice(step),
        messages: [...params.messages, { role: "assistant", content: message.content }],
      }));
    }
    expect(calls.map(([name]) => name)).toEqual(ORDER);
    expect(calls[0]![1]).toMatchObject({ name: expect.stringMatching(/ada/i) });
    expect(calls[1]![1]).toEqual({ number: 42 });
    expect(step).toBe(4);
    // The turns with the same tools share their beginning.
    for (const usage of usages.slice(1, 3)) {
      expect(usage.cache_read_input_tokens).toBeGreaterThan(200);
      expect(usage.input_tokens).toBeLessThan(80);
    }
  });
});

describe("the AI SDK with its provider for Anthropic, unmodified", () => {
  const provided = () => createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "none" })(model);

  it("runs three tools one after the other and ends with an answer", async () => {
    const { calls, run } = toolbox();
    const offer = (name: Name) =>
      tool({
        description: DESCRIPTIONS[name],
        inputSchema: jsonSchema<object>(SCHEMAS[name] as object),
        execute: async (input) => run(name)(input),
      });
    const tools = {
      find_user: offer("find_user"),
      get_balance: offer("get_balance"),
      send_mail: offer("send_mail"),
    };
    const answer = await generateText({
      model: provided(),
      maxOutputTokens: 100,
      temperature: 0,
      prompt: question,
      tools,
      stopWhen: stepCountIs(6),
      prepareStep: ({ stepNumber }) => {
        const toolName = ORDER[stepNumber];
        const toolChoice: ToolChoice<typeof tools> =
          toolName === undefined ? "none" : { type: "tool", toolName };
        return { toolChoice };
      },
    });
    expect(calls.map(([name]) => name)).toEqual(ORDER);
    expect(calls[1]![1]).toEqual({ number: 42 });
    expect(answer.steps.map(({ finishReason }) => finishReason).slice(0, 3)).toEqual([
      ...["tool-calls", "tool-calls", "tool-calls"],
    ]);
    expect(answer.steps).toHaveLength(4);
    expect(answer.text).not.toBe("");
  });

  it("streams a text", async () => {
    const streamed = streamText({
      model: provided(),
      maxOutputTokens: 32,
      temperature: 0,
      prompt: "What is the capital of France? One word.",
    });
    const pieces: string[] = [];
    for await (const piece of streamed.textStream) pieces.push(piece);
    expect(pieces.join("")).toContain("Paris");
    expect(await streamed.finishReason).toBe("stop");
    expect((await streamed.usage).inputTokens).toBeGreaterThan(10);
  });
});
