import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ flags: { "limits.max_prompt_chars": 1_000 } });
});
afterAll(() => server.dispose());

const user = (content: unknown) => [{ role: "user", content }];
const deep = (levels: number) => {
  let schema: Record<string, unknown> = { type: "object" };
  for (let i = 0; i < levels; i++) schema = { type: "object", properties: { a: schema } };
  return schema;
};

const REFUSED: [string, Record<string, unknown>, number, string, string][] = [
  ["no messages", { messages: [] }, 400, "invalid_request_error", "messages"],
  ["messages of a wrong type", { messages: "hi" }, 400, "invalid_request_error", "messages"],
  [
    "an unknown role",
    { messages: [{ role: "banana", content: "x" }] },
    400,
    "invalid_request_error",
    "messages[0].role",
  ],
  [
    "null content of a user",
    { messages: user(null) },
    400,
    "invalid_request_error",
    "messages[0].content",
  ],
  [
    "a number as content",
    { messages: user(3) },
    400,
    "invalid_request_error",
    "messages[0].content",
  ],
  [
    "an unknown part",
    { messages: user([{ type: "smell" }]) },
    400,
    "invalid_request_error",
    "messages[0].content[0].type",
  ],
  [
    "a part without its text",
    { messages: user([{ type: "text" }]) },
    400,
    "invalid_request_error",
    "messages[0].content[0].text",
  ],
  [
    "an image",
    { messages: user([{ type: "image_url", image_url: { url: "data:," } }]) },
    400,
    "invalid_request_error",
    "messages[0].content[0]",
  ],
  [
    "audio",
    {
      messages: user([
        { type: "text", text: "a" },
        { type: "input_audio", input_audio: { data: "" } },
      ]),
    },
    400,
    "invalid_request_error",
    "messages[0].content[1]",
  ],
  [
    "tools",
    { tools: [{ type: "function", function: { name: "f" } }] },
    400,
    "invalid_request_error",
    "tools",
  ],
  ["legacy functions", { functions: [{ name: "f" }] }, 400, "invalid_request_error", "functions"],
  [
    "too long a prompt",
    { messages: user("x".repeat(1_001)) },
    400,
    "invalid_request_error",
    "messages",
  ],
  ["max_tokens 0", { max_tokens: 0 }, 400, "invalid_request_error", "max_tokens"],
  ["a fractional max_tokens", { max_tokens: 1.5 }, 400, "invalid_request_error", "max_tokens"],
  ["a negative temperature", { temperature: -1 }, 400, "invalid_request_error", "temperature"],
  ["a text as temperature", { temperature: "hot" }, 400, "invalid_request_error", "temperature"],
  ["top_p above one", { top_p: 1.1 }, 400, "invalid_request_error", "top_p"],
  ["n 0", { n: 0 }, 400, "invalid_request_error", "n"],
  ["an unsafe seed", { seed: 2 ** 60 }, 400, "invalid_request_error", "seed"],
  ["an empty stop", { stop: [""] }, 400, "invalid_request_error", "stop[0]"],
  ["a stop without an end", { stop: ["x".repeat(1_025)] }, 400, "invalid_request_error", "stop[0]"],
  [
    "logit_bias of a whole vocabulary",
    { logit_bias: Object.fromEntries(Array.from({ length: 10_001 }, (_, token) => [token, 1])) },
    400,
    "invalid_request_error",
    "logit_bias",
  ],
  [
    "top_logprobs without logprobs",
    { top_logprobs: 3 },
    400,
    "invalid_request_error",
    "top_logprobs",
  ],
  [
    "logit_bias that names no token",
    { logit_bias: { hello: 1 } },
    400,
    "invalid_request_error",
    "logit_bias",
  ],
  [
    "an unknown response_format",
    { response_format: { type: "xml" } },
    400,
    "invalid_request_error",
    "response_format.type",
  ],
  [
    "a missing schema",
    { response_format: { type: "json_schema", json_schema: { name: "a" } } },
    400,
    "invalid_request_error",
    "response_format.json_schema.schema",
  ],
  [
    "a schema too deep",
    { response_format: { type: "json_schema", json_schema: { schema: deep(200) } } },
    400,
    "invalid_request_error",
    "response_format.json_schema.schema",
  ],
  [
    "a schema too long",
    {
      response_format: {
        type: "json_schema",
        json_schema: { schema: { enum: ["x".repeat(300_000)] } },
      },
    },
    400,
    "invalid_request_error",
    "response_format.json_schema.schema",
  ],
  [
    "audio as an answer",
    { modalities: ["text", "audio"] },
    400,
    "invalid_request_error",
    "modalities",
  ],
  ["an unreadable keep_alive", { keep_alive: "soon" }, 400, "invalid_request_error", "keep_alive"],
  ["num_ctx beyond the model", { num_ctx: 1_000_000 }, 400, "invalid_request_error", "num_ctx"],
  ["no model", { model: null }, 400, "invalid_request_error", "model"],
  ["an empty model", { model: "" }, 400, "invalid_request_error", "model"],
  ["an unknown model", { model: "tinny" }, 404, "model_not_found", "model"],
];

describe("a chat that cannot be honoured", () => {
  it.each(REFUSED)("is refused: %s", async (_, fields, status, type, param) => {
    const response = await server.chat(fields);
    const body = (await response.json()) as { error: Record<string, unknown> };
    expect(body.error).toMatchObject({ type, param, message: expect.any(String) });
    expect(response.status).toBe(status);
  });

  it("names the nearest model, and the command for one that can be had", async () => {
    const near = (await (await server.chat({ model: "tinny" })).json()) as {
      error: { message: string };
    };
    expect(near.error.message).toContain("Did you mean tiny?");
    const known = await server.chat({ model: "smollm2:135m" });
    expect(await known.text()).toContain("somnus pull smollm2:135m");
  });

  it("is the same error for a stream, before its head", async () => {
    const response = await server.chat({ stream: true, model: "tinny" });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toContain("application/json");
  });

  it("tells both numbers when the prompt is longer than the context", async () => {
    await server.engine.script({ lie: "exceed-context" });
    const response = await server.chat({});
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(response.status).toBe(400);
    expect(error.code).toBe("context_length_exceeded");
    expect(error.message.match(/\d+/g)!.length).toBeGreaterThanOrEqual(2);
    await server.engine.script({});
  });
});
