import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
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
context_len = 4096
`,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

const model = "qwen2.5-coder:0.5b";
const france = "What is the capital of France? One word.";
const add = {
  type: "function" as const,
  name: "add",
  description: "Adds two numbers.",
  strict: true,
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
};

describe("the OpenAI SDK's responses, unmodified, with a real model", () => {
  it("are created, and streamed to the same text", async () => {
    const fields = { model, input: france, temperature: 0 };
    const whole = await client.responses.create(fields);
    expect(whole.output_text).toContain("Paris");
    expect(whole.status).toBe("completed");
    const stream = client.responses.stream(fields);
    const last = await stream.finalResponse();
    expect(last.output_text).toBe(whole.output_text);
    expect(last.usage!.output_tokens).toBe(whole.usage!.output_tokens);
  });

  it("are parsed by their schema", async () => {
    const answer = await client.responses.parse({
      model,
      input: "Describe Berlin.",
      max_output_tokens: 200,
      text: {
        format: {
          type: "json_schema",
          name: "city",
          strict: true,
          schema: {
            type: "object",
            properties: { name: { type: "string", maxLength: 40 } },
            required: ["name"],
            additionalProperties: false,
          },
        },
      },
    });
    expect(answer.output_parsed).toEqual({ name: expect.any(String) });
  });

  it("go on from one another, and only what is new is read", async () => {
    const instructions = "You answer in one short sentence. ".repeat(12);
    const fields = { model, instructions, max_output_tokens: 24, temperature: 0 };
    const first = await client.responses.create({ ...fields, input: "Name a river." });
    const second = await client.responses.create({
      ...fields,
      input: "Another one.",
      previous_response_id: first.id,
    });
    const { input_tokens, input_tokens_details } = second.usage!;
    expect(input_tokens).toBeGreaterThan(first.usage!.input_tokens);
    expect(input_tokens - input_tokens_details.cached_tokens).toBeLessThan(40);
    const items = await client.responses.inputItems.list(second.id);
    expect(items.data).toHaveLength(1);
    expect((await client.responses.retrieve(first.id)).output_text).toBe(first.output_text);
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  it("call a function that tool_choice names, and go on from its result", async () => {
    const called = await client.responses.create({
      model,
      input: "What is 2 plus 3?",
      tools: [add],
      tool_choice: { type: "function", name: "add" },
    });
    const call = called.output.find((item) => item.type === "function_call")!;
    const { a, b } = JSON.parse(call.arguments) as { a: number; b: number };
    const answer = await client.responses.create({
      model,
      previous_response_id: called.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: String(a + b) }],
      tools: [add],
      tool_choice: "none",
    });
    expect(answer.status).toBe("completed");
    expect(answer.output_text).not.toBe("");
  });
});

describe("the AI SDK's default OpenAI model, unmodified, with a real model", () => {
  it("generates and streams a text", async () => {
    const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
    const whole = await generateText({ model: openai(model), prompt: france, temperature: 0 });
    expect(whole.text).toContain("Paris");
    expect(whole.finishReason).toBe("stop");
    const streamed = streamText({ model: openai(model), prompt: france, temperature: 0 });
    expect(await streamed.text).toBe(whole.text);
    expect((await streamed.usage).outputTokens).toBe(whole.usage.outputTokens);
  });
});
