import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.dispose());

async function errorOf(response: Response) {
  return {
    status: response.status,
    ...((await response.json()) as { error: { type: string } }).error,
  };
}

async function expectNextWorks() {
  await server.engine.script({});
  const response = await server.chat({});
  expect(response.status, await response.text()).toBe(200);
}

describe("an engine that dies", () => {
  it("while it loads: a server error, and the next request loads again", async () => {
    await server.engine.script({ load: { die: { signal: "SIGKILL" } } });
    expect(await errorOf(await server.chat({}))).toMatchObject({
      status: 500,
      type: "server_error",
    });
    await expectNextWorks();
  });

  it("because it cannot read the file: the model is not available", async () => {
    await server.engine.script({
      load: {
        die: { code: 1, lines: ["llama_model_load: error loading model: tensor 'x' not found"] },
      },
    });
    expect(await errorOf(await server.chat({}))).toMatchObject({
      status: 503,
      type: "model_not_available",
    });
    await expectNextWorks();
  });

  it.each([{ stream: false }, { stream: true }])(
    "while it reads the prompt: a server error before any head, %o",
    async (fields) => {
      await server.chat({});
      const response = await server.chat({
        ...fields,
        messages: [{ role: "user", content: "[[die:prefill]] hello" }],
      });
      expect(await errorOf(response)).toMatchObject({ status: 500, type: "server_error" });
      await expectNextWorks();
    },
  );

  it("in the middle of an answer: a server error, or the error chunk of a stream", async () => {
    const messages = [{ role: "user", content: "[[rate:50]][[die:2]] one two three four five" }];
    expect(await errorOf(await server.chat({ messages }))).toMatchObject({
      status: 500,
      type: "server_error",
    });
    await server.engine.script({});
    const chunks = await readChunks(await server.chat({ messages, stream: true }));
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: "error" }],
      error: { type: "server_error" },
    });
    await expectNextWorks();
  });

  it("for want of memory: says so", async () => {
    const response = await server.chat({
      messages: [{ role: "user", content: "[[oom:1]] one two three" }],
    });
    expect(await errorOf(response)).toMatchObject({ status: 507, type: "device_out_of_memory" });
  });

  it("rests after failing twice, and says for how long", async () => {
    await server.engine.script({ load: { die: { signal: "SIGKILL" } } });
    await server.chat({});
    await server.chat({});
    const response = await server.chat({});
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  it.each(["usage", "json", "half-event", "close", "utf8", "error-event", "http-500"] as const)(
    "or lies (%s) never leaves a request without an answer",
    async (lie) => {
      await server.engine.script({ lie });
      const response = await server.chat({});
      expect([200, 500]).toContain(response.status);
      await response.json();
      await expectNextWorks();
    },
  );
});
