import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { generateObject, generateText, type LanguageModel, Output, streamObject } from "ai";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../../test-server.js";

const City = z.object({ name: z.string(), people: z.number() });
const BERLIN = { name: "Berlin", people: 3_900_000 };
const model = "tiny";
const content = "Describe Berlin.";
const messages = [{ role: "user" as const, content }];

let server: TestServer;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  server = await startTestServer({
    script: { answer: '{"name": "Berlin", "people": 3900000}' },
  });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

/** The schema that the engine was told to keep to, of the last request. */
async function schema(): Promise<object> {
  const requests = (await server.engine.journal()).filter(({ event }) => event === "request");
  const { response_format } = requests.at(-1)!.body as {
    response_format?: { json_schema?: { schema?: object }; schema?: object };
  };
  return response_format?.json_schema?.schema ?? response_format?.schema ?? {};
}

const CITY = { properties: { name: { type: "string" }, people: { type: "number" } } };

describe("the OpenAI SDK's helpers for structured output", () => {
  it("parse a chat, whole and streamed", async () => {
    const fields = { model, messages, response_format: zodResponseFormat(City, "city") };
    const whole = await openai.chat.completions.parse(fields);
    expect(whole.choices[0]!.message.parsed).toEqual(BERLIN);
    expect(await schema()).toMatchObject(CITY);
    const streamed = await openai.chat.completions.stream(fields).finalChatCompletion();
    expect(streamed.choices[0]!.message.parsed).toEqual(BERLIN);
  });

  it("parse a response, whole and streamed", async () => {
    const fields = { model, input: content, text: { format: zodTextFormat(City, "city") } };
    const whole = await openai.responses.parse(fields);
    expect(whole.output_parsed).toEqual(BERLIN);
    expect(await schema()).toMatchObject(CITY);
    const streamed = await openai.responses.stream(fields).finalResponse();
    expect(streamed.output_parsed).toEqual(BERLIN);
  });
});

describe("the Anthropic SDK's helpers for structured output", () => {
  it("parse a message, whole and streamed", async () => {
    const fields = {
      model,
      max_tokens: 100,
      messages,
      output_config: { format: zodOutputFormat(City) },
    };
    const whole = await anthropic.messages.parse(fields);
    expect(whole.parsed_output).toEqual(BERLIN);
    expect(await schema()).toMatchObject(CITY);
    const streamed = await anthropic.messages.stream(fields).finalMessage();
    expect(streamed.parsed_output).toEqual(BERLIN);
  });
});

describe("the AI SDK's structured output", () => {
  const v1 = () => ({ baseURL: `${server.url}/v1`, apiKey: "none" });
  it.each<[string, () => LanguageModel]>([
    ["openai chat", () => createOpenAI(v1()).chat(model)],
    ["openai responses", () => createOpenAI(v1()).responses(model)],
    ["anthropic", () => createAnthropic(v1())(model)],
    [
      "openai-compatible",
      () =>
        createOpenAICompatible({ ...v1(), name: "somnus", supportsStructuredOutputs: true })(model),
    ],
  ])("is what the schema says: %s", async (_, modelOf) => {
    // For models that it does not know, the provider for Anthropic makes a tool of the schema otherwise.
    const providerOptions = { anthropic: { structuredOutputMode: "outputFormat" as const } };
    const fields = { model: modelOf(), prompt: content, maxRetries: 0, providerOptions };
    expect((await generateObject({ ...fields, schema: City })).object).toEqual(BERLIN);
    const streamed = streamObject({ ...fields, schema: City });
    let last: unknown;
    for await (const partial of streamed.partialObjectStream) last = partial;
    expect(last).toEqual(BERLIN);
    const { output } = await generateText({ ...fields, output: Output.object({ schema: City }) });
    expect(output).toEqual(BERLIN);
  });
});
