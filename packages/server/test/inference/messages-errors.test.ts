import { MessagesError } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const KEY = "sk-test";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    flags: { "server.api_keys": [KEY], "limits.max_body_bytes": 2_000 },
  });
});
afterAll(() => server.dispose());

const body = { model: "tiny", max_tokens: 4, messages: [{ role: "user", content: "Hello" }] };

async function errorOf(response: Response): Promise<MessagesError["error"]> {
  const answer = (await response.json()) as MessagesError;
  expect([...Value.Errors(MessagesError, answer)]).toEqual([]);
  expect(answer.request_id).toBe(response.headers.get("request-id"));
  expect(answer.request_id).toBe(response.headers.get("x-request-id"));
  return answer.error;
}

const send = (path: string, sent: unknown, headers: Record<string, string> = {}, method = "POST") =>
  fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-api-key": KEY, ...headers },
    ...(method === "GET" ? {} : { body: typeof sent === "string" ? sent : JSON.stringify(sent) }),
  });

describe("an error below /v1/messages", () => {
  it.each([
    ["no key", "/v1/messages", body, { "x-api-key": "" }, 401, "authentication_error"],
    ["a wrong key", "/v1/messages", body, { "x-api-key": "sk-x" }, 401, "authentication_error"],
    ["a foreign page", "/v1/messages", body, { origin: "https://x.test" }, 403, "permission_error"],
    ["an unknown path", "/v1/messages/batches", body, {}, 404, "not_found_error"],
    ["an unknown model", "/v1/messages", { ...body, model: "claude" }, {}, 404, "not_found_error"],
    ["a long body", "/v1/messages", "x".repeat(2_001), {}, 413, "request_too_large"],
    ["no JSON", "/v1/messages", "{", {}, 400, "invalid_request_error"],
    ["text", "/v1/messages", "x", { "content-type": "text/plain" }, 415, "invalid_request_error"],
    [
      "no max_tokens",
      "/v1/messages?beta=true",
      { ...body, max_tokens: null },
      {},
      400,
      "invalid_request_error",
    ],
    ["no messages", "/v1/messages/count_tokens", {}, {}, 400, "invalid_request_error"],
  ])("has Anthropic's form: %s", async (_, path, sent, headers, status, type) => {
    const response = await send(path, sent, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect((await errorOf(response)).type).toBe(type);
  });

  it("has it for another method, with what the path takes", async () => {
    const response = await send("/v1/messages", null, {}, "GET");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect((await errorOf(response)).type).toBe("invalid_request_error");
  });

  it("names the field", async () => {
    const content = [{ type: "text", text: "Look:" }, { type: "picture" }];
    const response = await send("/v1/messages", {
      ...body,
      messages: [{ role: "user", content }],
    });
    expect((await errorOf(response)).message).toMatch(/^messages\[0\]\.content\[1\]\.type must be/);
  });

  it("tells the SDK that threads are not kept, so that it sends whole conversations", async () => {
    const response = await send("/v1/messages", { ...body, thread: { type: "create" } });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).details).toEqual({
      error_code: "thread_unsupported_request",
      unsupported: ["thread"],
    });
  });

  it("tells when to try again while the server gets ready", async () => {
    const starting = await startTestServer({
      staging: true,
      script: { load: { hang: true } },
      toml: `config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
initial_tier = "tier1_gpu_vram"
`,
    });
    try {
      const response = await starting.post("/v1/messages", body);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect((await errorOf(response)).type).toBe("overloaded_error");
    } finally {
      await starting.dispose();
    }
  });

  it("leaves the other paths as they are", async () => {
    const response = await send("/v1/chat/completions", body, { "x-api-key": "sk-x" });
    expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    expect(response.headers.get("request-id")).toBeNull();
  });
});

describe("headers of Anthropic's clients", () => {
  it("are taken", async () => {
    const response = await send("/v1/messages?beta=true", body, {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "fine-grained-tool-streaming-2025-05-14,whatever-2030-01-01",
      "anthropic-dangerous-direct-browser-access": "true",
    });
    expect(response.status).toBe(200);
  });
});
