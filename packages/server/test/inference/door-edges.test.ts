import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

const messages = [{ role: "user", content: "Hello" }];

describe("what clients do besides", () => {
  it("HEAD / is answered without a body", async () => {
    const response = await fetch(server.url, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  it.each([
    ["/v1/chat/completions/", { messages }],
    ["/v1/messages/", { messages, max_tokens: 4 }],
    ["/v1/responses/", { input: "Hello" }],
  ])("a slash at the end is none: %s", async (path, fields) => {
    const response = await server.post(path, { model: "tiny", ...fields });
    expect(response.status, await response.text()).toBe(200);
  });

  it.each([
    ["/v1/chat/completions", "authorization,content-type,x-stainless-os"],
    ["/v1/messages", "anthropic-version,anthropic-beta,content-type,x-api-key"],
    ["/v1/responses", "authorization,content-type,openai-beta"],
  ])("a page of this machine may ask %s with its headers", async (path, headers) => {
    const response = await fetch(`${server.url}${path}`, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": headers,
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-methods")).toContain("POST");
    const allowed = response.headers.get("access-control-allow-headers")!.toLowerCase();
    for (const header of headers.split(",")) expect(allowed).toContain(header);
  });
});

describe("while the server gets ready", () => {
  it.each([
    ["/v1/tokenize", { content: "Hello" }],
    ["/v1/detokenize", { tokens: [1] }],
    ["/v1/messages/count_tokens", { messages }],
    ["/v1/responses", { input: "Hello" }],
  ])("%s says when to try again", async (path, fields) => {
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
      const response = await starting.post(path, { model: "tiny", ...fields });
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    } finally {
      await starting.dispose();
    }
  });
});
