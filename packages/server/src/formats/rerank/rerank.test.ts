import type { RerankRequest, Telemetry } from "@somnus/contract";
import { describe, expect, it } from "vitest";
import { readRerankRequest, writeRerankResponse } from "./index.js";

const read = (body: Partial<RerankRequest>, most = 100) =>
  readRerankRequest({ query: "q", documents: ["a", "b"], ...body }, { max_prompt_chars: most });

describe("a request to rank", () => {
  it("has documents as texts or objects with one", () => {
    expect(read({ documents: ["a", { text: "b" }] })).toEqual({
      model: undefined,
      query: "q",
      documents: ["a", "b"],
      best: 2,
      returnDocuments: false,
      keepAliveMs: null,
    });
    expect(read({ top_n: 9 }).best).toBe(2);
    expect(read({ top_n: 1, return_documents: true })).toMatchObject({
      best: 1,
      returnDocuments: true,
    });
  });

  it.each([
    [{ query: "" }, "query"],
    [{ documents: [] }, "documents"],
    [{ documents: ["a", { text: "" }] }, "documents[1]"],
    [{ documents: Array(2049).fill("a") }, "documents"],
    [{ documents: ["a".repeat(101)] }, "documents"],
  ])("is refused by name: %j", (body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: "invalid_request", param }));
  });
});

describe("ranked documents", () => {
  const options = { model: "m", promptTokens: 4, telemetry: {} as Telemetry };
  const documents = ["a", "b", "c"];

  it("come with the best first, and equal ones in their order", () => {
    const wanted = { documents, best: 3, returnDocuments: false };
    const { results, usage } = writeRerankResponse(wanted, [0.2, 0.9, 0.2], options);
    expect(results).toEqual([
      { index: 1, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.2 },
      { index: 2, relevance_score: 0.2 },
    ]);
    expect(usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  });

  it("are as many as were asked for, with their texts where they were", () => {
    const wanted = { documents, best: 1, returnDocuments: true };
    expect(writeRerankResponse(wanted, [0.2, 0.1, 0.3], options).results).toEqual([
      { index: 2, relevance_score: 0.3, document: { text: "c" } },
    ]);
  });
});
