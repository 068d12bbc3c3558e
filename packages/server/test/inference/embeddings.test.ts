import { EmbeddingsResponse } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const TOML = `
config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[[models]]
id = "vectors"
modality = "embeddings"
weights_path = "bert.gguf"
context_len = 256
[[models]]
id = "short"
modality = "embeddings"
weights_path = "bert.gguf"
matryoshka = true
[[models]]
id = "unpooled"
modality = "embeddings"
weights_path = "tiny.gguf"
[[models]]
id = "ranks"
modality = "embeddings"
weights_path = "ranks.gguf"
`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ toml: TOML });
});
afterAll(() => server.dispose());

async function embed(fields: Record<string, unknown>) {
  const response = await server.post("/v1/embeddings", { model: "vectors", ...fields });
  const body = await response.json();
  return { status: response.status, headers: response.headers, body };
}

async function vectors(fields: Record<string, unknown>): Promise<number[][]> {
  const { status, body } = await embed(fields);
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  return body.data.map(({ embedding }: { embedding: number[] }) => embedding);
}

describe("POST /v1/embeddings", () => {
  it("answers as the contract says, with telemetry and the expected wait", async () => {
    await embed({ input: "one" });
    const { body, headers } = await embed({ input: ["one two", "three"] });
    expect([...Value.Errors(EmbeddingsResponse, body)]).toEqual([]);
    expect(body.data.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    // Two words and one, each with a token before and after it.
    expect(body.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    expect(body.hypnos_telemetry).toMatchObject({
      previous_tier: "tier1_gpu_vram",
      placement: { allocated_context_len: 256 },
      engine: { queue_ms: expect.any(Number), prefill_ms: expect.any(Number), concurrent_slots: 1 },
    });
    expect(body.hypnos_telemetry.engine).not.toHaveProperty("decode_ms");
    expect(Number(headers.get("x-hypnos-estimated-wait-ms"))).toBeGreaterThanOrEqual(0);
  });

  it("gives each input its vector, whatever stands beside it", async () => {
    const texts = Array.from({ length: 300 }, (_, at) => `number ${at} of them`);
    const all = await vectors({ input: texts });
    expect(all).toHaveLength(300);
    for (const at of [0, 17, 299]) {
      expect(await vectors({ input: texts[at] })).toEqual([all[at]]);
    }
  });

  it("computes many inputs in rounds that leave room for others", async () => {
    const before = (await server.engine.journal()).length;
    await vectors({ input: Array(100).fill("a b c d e f g h") });
    const rounds = (await server.engine.journal()).slice(before);
    const tokens = rounds.flatMap(({ promptTokens = 0 }) =>
      promptTokens > 0 ? [promptTokens] : [],
    );
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(1_000);
    expect(Math.max(...tokens)).toBeLessThanOrEqual(64);
  });

  it("gives base64 that decodes to the same numbers", async () => {
    const [floats] = await vectors({ input: "one" });
    const { body } = await embed({ input: "one", encoding_format: "base64" });
    const bytes = Buffer.from(body.data[0].embedding, "base64");
    expect(floats!.map((_, at) => bytes.readFloatLE(4 * at))).toEqual(floats);
  });

  it("takes token ids, with the model's own around them or not", async () => {
    const [[bare], [framed], both] = [
      await vectors({ input: [7, 8, 9] }),
      await vectors({ input: [1, 7, 8, 9, 2] }),
      await vectors({ input: [[7, 8, 9], [4]] }),
    ];
    expect(framed).toEqual(bare);
    expect(both[0]).toEqual(bare);
    expect((await embed({ input: [7, 99_999_999] })).body.error).toMatchObject({ param: "input" });
  });

  it("refuses an input that is too long with its count, or cuts it", async () => {
    const long = "word ".repeat(300).trim();
    const { status, body } = await embed({ input: ["ok", long] });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "context_length_exceeded", param: "input[1]" });
    expect(body.error.message).toContain("302 tokens");
    expect(body.error.message).toContain("256");
    const cut = await embed({ input: ["ok", long], truncate: true });
    expect(cut.status).toBe(200);
    expect(cut.body.usage.prompt_tokens).toBe(3 + 256);
  });

  it("shortens vectors only of a model that was trained for it", async () => {
    expect(await vectors({ input: "one", dimensions: 128 })).toHaveLength(1);
    expect((await embed({ input: "one", dimensions: 64 })).body.error).toMatchObject({
      param: "dimensions",
    });
    const [whole] = await vectors({ model: "short", input: "one" });
    const [start] = await vectors({ model: "short", input: "one", dimensions: 16 });
    expect(start).toHaveLength(16);
    expect(Math.hypot(...start!)).toBeCloseTo(1, 5);
    expect(start![3]! / start![0]!).toBeCloseTo(whole![3]! / whole![0]!, 4);
    expect((await embed({ model: "short", input: "one", dimensions: 129 })).status).toBe(400);
  });

  it.each([
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: ["a", ""] }, "input[1]"],
    [{ input: "a", encoding_format: "hex" }, "encoding_format"],
    [{ input: "a", dimensions: 0 }, "dimensions"],
    [{ input: { text: "a" } }, "input"],
    [{ input: ["a", 1] }, "input[1]"],
    [{}, "input"],
    [{ model: "tiny", input: "a" }, "model"],
    [{ model: "unpooled", input: "a" }, "model"],
    [{ model: "ranks", input: "a" }, "model"],
  ])("refuses %j by name", async (fields, param) => {
    const { status, body } = await embed(fields);
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
  });

  it("knows no model that is not there", async () => {
    expect((await embed({ model: "nothing", input: "a" })).status).toBe(404);
  });

  it("is not what a chat goes to", async () => {
    const response = await server.chat({ model: "vectors" });
    expect((await response.json()).error.param).toBe("model");
  });

  it("frees its place when the client leaves", async () => {
    await server.engine.script({ vectors: { hang: true } });
    try {
      const leave = new AbortController();
      const before = (await server.engine.journal()).length;
      const gone = server.post(
        "/v1/embeddings",
        { model: "vectors", input: "a" },
        { signal: leave.signal },
      );
      gone.catch(() => {});
      await server.engine.happened(({ event }) => event === "request", before);
      leave.abort();
      await server.engine.happened(({ event }) => event === "disconnect", before);
      await expect.poll(() => server.server.activeRequests()).toBe(0);
    } finally {
      await server.engine.script({});
    }
    expect((await embed({ input: "a" })).status).toBe(200);
  });

  it("tells of an engine that answers nonsense, and of one without memory", async () => {
    try {
      await server.engine.script({ vectors: { lie: "nan" } });
      expect((await embed({ input: "a" })).status).toBe(500);
      await server.engine.script({ vectors: { oom: true } });
      expect((await embed({ input: "a" })).status).toBe(507);
    } finally {
      await server.engine.script({});
    }
    expect((await embed({ input: "a" })).status).toBe(200);
  });
});
