import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withEmbeddingServer } from "../../src/models/convert/__fixtures__/embedding-server.js";
import { cosine } from "../../src/models/convert/__fixtures__/reference-bert.js";
import { writeTinyReranker } from "../gguf/index.js";
import { realModel } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

let folder: string;
let server: Awaited<ReturnType<typeof startRealServer>>;
let client: OpenAI;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-ranks-"));
  const ranks = join(folder, "ranks.gguf");
  await writeTinyReranker(ranks);
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "all-minilm:l6-v2"
[[models]]
id = "ranks"
modality = "embeddings"
weights_path = ${JSON.stringify(ranks)}
`,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

const model = "all-minilm:l6-v2";

async function embed(input: string | string[] | number[]): Promise<number[][]> {
  const { data } = await client.embeddings.create({ model, input });
  return data.map(({ embedding }) => embedding);
}

async function post(path: string, body: unknown) {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe("the OpenAI SDK, unmodified, with a real embedding model", () => {
  it("gets the same numbers as floats and as base64, which is what it asks for by itself", async () => {
    const input = "The cat sits outside.";
    const [decoded] = await embed(input);
    const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
    expect(floats.data[0]!.embedding).toEqual(decoded);
    expect(decoded).toHaveLength(384);
    expect(Math.hypot(...decoded!)).toBeCloseTo(1, 6);
    // [CLS] the cat sits outside . [SEP]
    expect(floats.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
  });

  it.each([
    ["A man is eating food.", "A man is eating a piece of bread.", 0.7553],
    ["How do I reset my password?", "What are the steps to change my password?", 0.8227],
    ["The cat sits outside.", "A cat is sitting outdoors.", 0.9733],
    [
      "How do I reset my password?",
      "Photosynthesis converts sunlight into chemical energy.",
      0.0654,
    ],
  ])("finds %j and %j as alike as is known", async (a, b, known) => {
    const [first, second] = await embed([a, b]);
    expect(Math.abs(cosine(first!, second!) - known)).toBeLessThan(0.002);
  });

  it("gets vectors in the order of its inputs, many at once as each alone", async () => {
    const texts = Array.from(
      { length: 120 },
      (_, at) => `Sentence ${at} is about ${at % 7} things.`,
    );
    const all = await embed(texts);
    for (const at of [0, 1, 60, 119]) {
      const [alone] = await embed(texts[at]!);
      expect(cosine(all[at]!, alone!)).toBeGreaterThan(0.999_999);
    }
  });

  it("gets what the engine itself would give", async () => {
    const texts = ["Hello, world!", "Café RÉSUMÉ", "word ".repeat(400).trim(), "漢字 and emoji 🙂"];
    const ours = await embed(texts);
    const theirs = await withEmbeddingServer(await realModel(model), 512, (engine) =>
      engine.embed(texts),
    );
    for (const [at, vector] of ours.entries()) {
      expect(cosine(vector, theirs[at]!), texts[at]!.slice(0, 20)).toBeGreaterThanOrEqual(0.9999);
    }
  });

  it("may send tokens, as they are told by /v1/tokenize, with or without the special ones", async () => {
    const content = "The cat sits outside.";
    const [text] = await embed(content);
    for (const add_special of [true, false]) {
      const { body } = await post("/v1/tokenize", { model, content, add_special });
      expect(body.count).toBe(add_special ? 7 : 5);
      expect(await embed(body.tokens)).toEqual([text]);
      const { body: back } = await post("/v1/detokenize", { model, tokens: body.tokens });
      expect(back.content).toContain("the cat sits outside");
    }
  });

  it("gets special tokens of a text taken for text", async () => {
    const { body } = await post("/v1/tokenize", { model, content: "a [SEP] b" });
    expect(body.tokens).not.toContain(102);
    const [marked, plain] = await embed(["a [SEP] b", "a b"]);
    expect(cosine(marked!, plain!)).toBeLessThan(0.99);
  });

  it("is told how long an input is that is too long, or gets the vector of its start", async () => {
    const long = "word ".repeat(511).trim();
    const error = await embed(["ok", long]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "context_length_exceeded", param: "input[1]" });
    expect(String(error)).toContain("513 tokens");
    const fields = { model, input: long, encoding_format: "float" };
    const cut = await post("/v1/embeddings", { ...fields, truncate: true });
    expect(cut.body.usage.prompt_tokens).toBe(512);
    const [start] = await embed("word ".repeat(510).trim());
    expect(cosine(cut.body.data[0].embedding, start!)).toBeGreaterThan(0.999_999);
  });

  it("leaves nothing running when it goes", async () => {
    const input = Array.from({ length: 2048 }, (_, at) => `A rather long sentence, number ${at}.`);
    const leave = new AbortController();
    const going = client.embeddings.create({ model, input }, { signal: leave.signal });
    going.catch(() => {});
    await expect.poll(() => server.server.activeRequests()).toBe(1);
    await embed("They are computed in rounds, and others come between.");
    expect(server.server.activeRequests()).toBe(1);
    leave.abort();
    await expect.poll(() => server.server.activeRequests(), { timeout: 2_000 }).toBe(0);
    const startedAt = performance.now();
    await embed("Soon afterwards the engine is free.");
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe("a model that ranks, in the real engine", () => {
  it("tells of each document the same alone as among others, the best first", async () => {
    const documents = ["the cat", "a dog and a cat", "fish", "the cat sits outside on the mat"];
    const ask = (some: string[]) =>
      post("/v1/rerank", { model: "ranks", query: "a cat", documents: some });
    const { status, body } = await ask(documents);
    expect(status).toBe(200);
    const scores = body.results.map(
      (result: { relevance_score: number }) => result.relevance_score,
    );
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(Math.max(...scores)).toBeLessThan(1);
    expect(Math.min(...scores)).toBeGreaterThan(0);
    expect(new Set(scores).size).toBe(documents.length);
    for (const { index, relevance_score } of body.results) {
      const alone = await ask([documents[index]!]);
      expect(alone.body.results[0].relevance_score).toBeCloseTo(relevance_score, 3);
    }
  });
});
