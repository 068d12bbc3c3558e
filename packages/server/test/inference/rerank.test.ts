import { RerankResponse } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const TOML = `
config_version = 1
[[models]]
id = "vectors"
modality = "embeddings"
weights_path = "bert.gguf"
[[models]]
id = "ranks"
modality = "embeddings"
weights_path = "ranks.gguf"
context_len = 256
`;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ toml: TOML });
});
afterAll(() => server.dispose());

async function rank(fields: Record<string, unknown>) {
  const body = { model: "ranks", query: "red fish", documents: ["a dog", "red fish"], ...fields };
  const response = await server.post("/v1/rerank", body);
  return { status: response.status, body: await response.json() };
}

describe("POST /v1/rerank", () => {
  it("tells the best document first, with scores from 0 to 1", async () => {
    const { status, body } = await rank({ return_documents: true });
    expect(status).toBe(200);
    expect([...Value.Errors(RerankResponse, body)]).toEqual([]);
    expect(body.results).toEqual([
      { index: 1, relevance_score: 1 / (1 + Math.exp(-2)), document: { text: "red fish" } },
      { index: 0, relevance_score: 1 / (1 + Math.exp(2)), document: { text: "a dog" } },
    ]);
    expect(body.usage.prompt_tokens).toBe(8);
  });

  it("ranks many documents in rounds, and tells as many as were asked for", async () => {
    const documents = Array.from({ length: 200 }, (_, at) =>
      at === 150 ? "red fish" : `dog ${at}`,
    );
    const { body } = await rank({ documents, top_n: 3 });
    expect(body.results.map(({ index }: { index: number }) => index)).toEqual([150, 0, 1]);
  });

  it("refuses a document that is too long with its count", async () => {
    const { status, body } = await rank({ documents: ["ok", "word ".repeat(300).trim()] });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "context_length_exceeded", param: "documents[1]" });
    expect(body.error.message).toMatch(/30\d tokens/);
  });

  it.each([
    [{ query: "" }, "query"],
    [{ query: 1 }, "query"],
    [{ documents: [] }, "documents"],
    [{ documents: [""] }, "documents[0]"],
    [{ documents: [{ title: "a" }] }, "documents[0].text"],
    [{ top_n: 0 }, "top_n"],
    [{ model: "vectors" }, "model"],
  ])("refuses %j by name", async (fields, param) => {
    const { status, body } = await rank(fields);
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
  });
});
