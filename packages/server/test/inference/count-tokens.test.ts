import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

describe("counting tokens", () => {
  it("counts what the same prompt then has", async () => {
    const prompt = {
      model: "tiny",
      system: "You are brief.",
      messages: [{ role: "user", content: "How are you today?" }],
    };
    const counted = await server.post("/v1/messages/count_tokens", prompt);
    const { input_tokens } = (await counted.json()) as { input_tokens: number };
    const answered = await server.post("/v1/messages", { ...prompt, max_tokens: 1 });
    const { usage } = (await answered.json()) as {
      usage: { input_tokens: number; cache_read_input_tokens: number };
    };
    expect(input_tokens).toBeGreaterThan(5);
    expect(usage.input_tokens + usage.cache_read_input_tokens).toBe(input_tokens);
  });

  it("counts a prompt that the model could not answer", async () => {
    const long = { model: "tiny", messages: [{ role: "user", content: "word ".repeat(9_000) }] };
    const counted = await server.post("/v1/messages/count_tokens", long);
    expect(((await counted.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(
      8_000,
    );
    const answered = await server.post("/v1/messages", { ...long, max_tokens: 1 });
    expect(answered.status).toBe(400);
    expect(await answered.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  });
});
