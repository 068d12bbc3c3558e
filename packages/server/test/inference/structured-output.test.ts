import type { ChatChunk, ChatResponse } from "@somnus/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({});
});
afterAll(() => server.dispose());

const OBJECT = { type: "json_object" };
const schemaOf = (schema: Record<string, unknown>) => ({
  type: "json_schema",
  json_schema: { name: "x", schema },
});
const BOUNDED = schemaOf({
  type: "object",
  properties: { a: { type: "number", maximum: 1 } },
  required: ["a"],
});

/** A chat that is answered with a text. */
const told = (text: string, fields: Record<string, unknown>) =>
  server.chat({ messages: [{ role: "user", content: `[[say:${text}]]` }], ...fields });

async function refusal(response: Response) {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  return { status: response.status, ...error };
}

describe("JSON that was asked for", () => {
  it("is the answer where it is whole and within its bounds", async () => {
    for (const format of [OBJECT, BOUNDED]) {
      const response = await told('{"a": 0.5}', { response_format: format });
      expect(response.status).toBe(200);
      const { choices } = (await response.json()) as ChatResponse;
      expect(choices[0]!.message.content).toBe('{"a": 0.5}');
    }
  });

  it.each<[string, string, object, RegExp]>([
    ["no JSON", "Sure: {}", OBJECT, /not whole JSON/],
    ["not an object", "3", OBJECT, /not an object/],
    ["half of it", '{"a": 1', OBJECT, /line 1, column 8/],
    ["out of its bounds", '{"a": 1.5}', BOUNDED, /schema at \/a/],
  ])("is an error where it is %s", async (_, text, format, message) => {
    const response = await told(text, { response_format: format });
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await refusal(response)).toEqual({
      status: 502,
      type: "server_error",
      code: "invalid_model_output",
      message: expect.stringMatching(message),
    });
  });

  it("is an error where the limit of tokens or a stop string cut it, which is told", async () => {
    const text = '{"a": "one two three"}';
    const cut = await refusal(await told(text, { response_format: OBJECT, max_tokens: 2 }));
    expect(cut).toMatchObject({ status: 502, message: expect.stringContaining("max_tokens") });
    const stopped = await refusal(await told(text, { response_format: OBJECT, stop: "two" }));
    expect(stopped).toMatchObject({ status: 502, message: expect.stringContaining("stop") });
  });

  it("is streamed as it comes, and ends in an error chunk where it is none", async () => {
    const fields = { response_format: OBJECT, stream: true, max_tokens: 2 };
    const chunks = (await readChunks(
      await told('[[rate:50]]{"a": "one two three"}', fields),
    )) as ChatChunk[];
    expect(chunks.some((chunk) => chunk.choices[0]?.delta.content)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ index: 0, delta: {}, finish_reason: "error" }],
      error: { type: "server_error", code: "invalid_model_output" },
    });
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason)).toHaveLength(1);
  });

  it("is of each choice by itself", async () => {
    const response = await told('{"a": 1}', { response_format: OBJECT, n: 2 });
    expect(((await response.json()) as ChatResponse).choices).toHaveLength(2);
  });

  it("may be cut on the paths that have a word for that", async () => {
    const prompt = '[[say:{"a": "one two three"}]]';
    const messages = [{ role: "user", content: prompt }];
    const schema = { type: "object" };
    const message = await server.post("/v1/messages", {
      model: "tiny",
      max_tokens: 2,
      messages,
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(await message.json()).toMatchObject({ stop_reason: "max_tokens" });
    const response = await server.post("/v1/responses", {
      model: "tiny",
      input: prompt,
      max_output_tokens: 2,
      text: { format: { type: "json_schema", name: "x", schema } },
    });
    expect(await response.json()).toMatchObject({ status: "incomplete" });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ type: "string", pattern: "(?=a)b" }, "#/pattern"],
    [{ type: "object", properties: { a: { not: {} } } }, "#/properties/a/not"],
    [{ type: "string", pattern: "(" }, "#"],
    [{ $defs: { a: { $ref: "#/$defs/b" } }, $ref: "#/$defs/a" }, "#"],
  ])("is refused at once where its schema cannot be held to: %j", async (schema, at) => {
    const response = await told("x", { response_format: schemaOf(schema) });
    expect(await refusal(response)).toMatchObject({
      status: 400,
      param: "response_format.json_schema.schema",
      message: expect.stringContaining(at),
    });
  });

  it("is asked of the engine in words that it follows", async () => {
    const schema = { type: "object", properties: { a: { type: "string", pattern: "b" } } };
    await told('{"a": "abc"}', { response_format: schemaOf(schema) });
    const asked = (await server.engine.journal()).findLast(({ event }) => event === "request")!;
    expect(JSON.stringify(asked.body)).toContain('"pattern":"^');
  });
});
