import { ChatRequest } from "@somnus/contract";
import fc from "fast-check";
import Type from "typebox";
import { describe, expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";
import { defineRoute, jsonReply } from "./index.js";
import type { SchemaNode } from "./json-schema.js";
import { explainMismatch } from "./validation-message.js";

const user = { role: "user", content: "hi" };
const chat = (fields: Record<string, unknown>) =>
  explainMismatch(ChatRequest, { messages: [user], ...fields }, "The body");
const message = (fields: Record<string, unknown>) =>
  chat({ messages: [user, { role: "user", ...fields }] });

describe("what is wrong, where, and what is expected", () => {
  test.each([
    [
      chat({ temperature: "hot" }),
      "temperature",
      "temperature must be a number from 0 to 2, not a string.",
    ],
    [chat({ temperature: 3 }), "temperature", "temperature must be a number from 0 to 2, not 3."],
    [
      chat({ temperature: Number.POSITIVE_INFINITY }),
      "temperature",
      "temperature must be a number from 0 to 2, not a number that large.",
    ],
    [chat({ max_tokens: 0 }), "max_tokens", "max_tokens must be an integer of 1 or more, not 0."],
    [
      chat({ max_tokens: 1.5 }),
      "max_tokens",
      "max_tokens must be an integer of 1 or more, not 1.5.",
    ],
    [chat({ stream: "true" }), "stream", "stream must be true or false, not a string."],
    [chat({ model: "" }), "model", "model must be a non-empty string, not an empty one."],
    [chat({ messages: [] }), "messages", "messages must be a non-empty array, not an empty one."],
    [chat({ messages: undefined }), "messages", "messages must be a non-empty array, not null."],
    [
      chat({ stop: 7 }),
      "stop",
      "stop must be a non-empty string of at most 1024 characters or an array of at most 16 items, not 7.",
    ],
    [
      chat({ stop: ["a", ""] }),
      "stop[1]",
      "stop[1] must be a non-empty string of at most 1024 characters, not an empty one.",
    ],
    [
      chat({ stop: Array(17).fill("a") }),
      "stop",
      "stop must be a non-empty string of at most 1024 characters or an array of at most 16 items, not one of 17 items.",
    ],
    [
      chat({ logit_bias: { 5: "x" } }),
      'logit_bias["5"]',
      'logit_bias["5"] must be a number from -100 to 100, not a string.',
    ],
    [
      chat({ reasoning_effort: "max" }),
      "reasoning_effort",
      'reasoning_effort must be one of "none", "minimal", "low", "medium", "high" or "xhigh", not "max".',
    ],
    [
      chat({ keep_alive: true }),
      "keep_alive",
      "keep_alive must be a number or a string, not true.",
    ],
    [
      chat({ response_format: { type: "xml" } }),
      "response_format.type",
      'response_format.type must be one of "text", "json_object" or "json_schema", not "xml".',
    ],
    [
      chat({ response_format: {} }),
      "response_format.type",
      'response_format.type is missing; it must be one of "text", "json_object" or "json_schema".',
    ],
    [
      chat({ response_format: { type: "json_schema" } }),
      "response_format.json_schema",
      "response_format.json_schema is missing; it must be an object.",
    ],
    [
      chat({ response_format: "json" }),
      "response_format",
      "response_format must be an object, not a string.",
    ],
    [
      message({ content: 7 }),
      "messages[1].content",
      "messages[1].content must be a string or an array, not 7.",
    ],
    [
      message({ content: [{ type: "text", text: "a" }, { type: "pic" }] }),
      "messages[1].content[1].type",
      'messages[1].content[1].type must be one of "text", "image_url", "input_audio" or "refusal", not "pic".',
    ],
    [
      message({ content: [{ text: "a" }] }),
      "messages[1].content[0].type",
      'messages[1].content[0].type is missing; it must be one of "text", "image_url", "input_audio" or "refusal".',
    ],
    [
      message({ content: [{ type: "text", text: 5 }] }),
      "messages[1].content[0].text",
      "messages[1].content[0].text must be a string, not 5.",
    ],
    [
      message({ content: [{ type: "image_url", image_url: "http://a" }] }),
      "messages[1].content[0].image_url",
      "messages[1].content[0].image_url must be an object, not a string.",
    ],
    [
      message({ role: "robot" }),
      "messages[1].role",
      'messages[1].role must be one of "system", "developer", "user", "assistant", "tool" or "function", not "robot".',
    ],
    [explainMismatch(ChatRequest, [], "The body"), "", "The body must be an object, not an array."],
  ])("%o", (mismatch, param, sentence) => {
    expect(mismatch).toEqual({ param, message: sentence });
  });
});

test("long text never comes back", () => {
  const secret = "s3cret".repeat(100);
  const mismatch = message({ role: secret });
  expect(mismatch?.message).toContain("not one of 600 characters");
  expect(
    JSON.stringify([
      mismatch,
      chat({ temperature: secret }),
      chat({ logit_bias: { [secret]: "x" } }),
    ]),
  ).not.toContain(secret);
});

test("unknown keywords are the validator's to explain", async () => {
  const route = defineRoute({
    method: "POST",
    path: "/v1/odd",
    summary: "Odd.",
    tags: [],
    body: Type.Object({ n: Type.Number({ multipleOf: 4 }) }),
    replies: {},
    scope: "key",
    openWhileStaging: true,
    handler: ({ body }) => jsonReply(body.n),
  });
  const door = await testDoor({ routes: [route] });
  const answer = await door.inject({ method: "POST", url: "/v1/odd", payload: { n: 3 } });
  expect(answer.json().error).toMatchObject({
    param: "n",
    message: expect.stringContaining("multiple of 4"),
  });
});

test("query and path are named as such", async () => {
  const route = defineRoute({
    method: "GET",
    path: "/v1/list/:kind",
    summary: "List.",
    tags: [],
    params: Type.Object({ kind: Type.String({ maxLength: 3 }) }),
    query: Type.Object({ after: Type.Optional(Type.String()) }),
    replies: {},
    scope: "key",
    openWhileStaging: true,
    handler: ({ params, query }) => jsonReply({ params, query }),
  });
  const door = await testDoor({ routes: [route] });
  expect((await door.inject("/v1/list/abc?after=x&unknown=1")).statusCode).toBe(200);
  expect((await door.inject("/v1/list/abcd")).json().error.param).toBe("kind");
  expect((await door.inject("/v1/list/abc?after=1&after=2")).json().error).toMatchObject({
    param: "after",
    message: "after must be a string, not an array.",
  });
});

test("the explanation and the validator agree on every value", async () => {
  const route = defineRoute({
    method: "POST",
    path: "/v1/chat",
    summary: "Chat.",
    tags: [],
    body: ChatRequest,
    replies: {},
    scope: "key",
    openWhileStaging: true,
    handler: () => jsonReply({ fits: true }),
  });
  const door = await testDoor({ routes: [route] });
  const known = Object.keys((ChatRequest as SchemaNode).properties ?? {});
  const part = fc.record(
    {
      type: fc.constantFrom("text", "image_url", "x"),
      text: fc.oneof(fc.string(), fc.integer()),
      image_url: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const messages = fc.array(
    fc.record(
      {
        role: fc.constantFrom("user", "tool", "x"),
        content: fc.oneof(fc.string(), fc.array(part), fc.jsonValue()),
        name: fc.jsonValue(),
      },
      { requiredKeys: ["role"] },
    ),
    { maxLength: 3 },
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(-1, 0, 0.5, 1, 2, 1e21, "", "a", [], ["a"], {}, null, true, "low"),
  );
  const body = fc
    .record({
      messages: fc.oneof(messages, value),
      fields: fc.dictionary(fc.constantFrom(...known), value, { maxKeys: 3 }),
    })
    .map(({ messages, fields }) => ({ messages, ...fields }));
  await fc.assert(
    fc.asyncProperty(body, async (payload) => {
      const answer = await door.inject({ method: "POST", url: "/v1/chat", payload });
      const explained = explainMismatch(
        ChatRequest,
        JSON.parse(JSON.stringify(payload)),
        "The body",
      );
      expect([answer.statusCode, answer.json().error?.message]).toEqual(
        explained ? [400, explained.message] : [200, undefined],
      );
    }),
    { numRuns: 500 },
  );
});
