import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { cosineSimilarity, embed, embedMany } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    toml: `
config_version = 1
[[models]]
id = "vectors"
modality = "embeddings"
weights_path = "bert.gguf"
`,
  });
});
afterAll(() => server.dispose());

const texts = ["a cat", "a dog", "a cat"];

/** Which texts are the same, by their vectors. */
function alike(vectors: number[][]): boolean[] {
  return vectors.map((vector) => cosineSimilarity(vector, vectors[0]!) > 0.999);
}

describe("vectors, in the order of their texts", () => {
  it("are given to the OpenAI SDK", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
    const answer = await client.embeddings.create({ model: "vectors", input: texts });
    expect(alike(answer.data.map(({ embedding }) => embedding))).toEqual([true, false, true]);
  });

  it.each(["openai", "openai-compatible"])("are given to the AI SDK: %s", async (provider) => {
    const v1 = { baseURL: `${server.url}/v1`, apiKey: "none" };
    const model =
      provider === "openai"
        ? createOpenAI(v1).embeddingModel("vectors")
        : createOpenAICompatible({ ...v1, name: "somnus" }).embeddingModel("vectors");
    const many = await embedMany({ model, values: texts, maxRetries: 0 });
    expect(alike(many.embeddings)).toEqual([true, false, true]);
    const one = await embed({ model, value: texts[1]!, maxRetries: 0 });
    expect(cosineSimilarity(one.embedding, many.embeddings[1]!)).toBeGreaterThan(0.999);
    expect(one.usage.tokens).toBeGreaterThan(0);
  });
});
