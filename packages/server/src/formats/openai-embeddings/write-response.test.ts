import type { Telemetry } from "@somnus/contract";
import fc from "fast-check";
import { expect, it } from "vitest";
import { writeEmbeddingsResponse } from "./index.js";

const telemetry = {} as Telemetry;

function embeddings(vectors: Float32Array[], encoding: "float" | "base64") {
  const options = { model: "m", encoding, promptTokens: 3, telemetry };
  return writeEmbeddingsResponse(vectors, options).data.map(({ embedding }) => embedding);
}

it("is a list in the order of the inputs, with all tokens counted", () => {
  const vectors = [new Float32Array([0.5, 1]), new Float32Array([2, 0])];
  const options = { model: "m", encoding: "float", promptTokens: 3, telemetry } as const;
  expect(writeEmbeddingsResponse(vectors, options)).toEqual({
    object: "list",
    model: "m",
    data: [
      { object: "embedding", index: 0, embedding: [0.5, 1] },
      { object: "embedding", index: 1, embedding: [2, 0] },
    ],
    usage: { prompt_tokens: 3, total_tokens: 3 },
    hypnos_telemetry: {},
  });
});

it("gives the same numbers as base64, the lowest byte first, also of a part of a buffer", () => {
  fc.assert(
    fc.property(fc.float32Array({ noNaN: true, minLength: 2 }), (all) => {
      const vector = all.subarray(1);
      const [text] = embeddings([vector], "base64") as [string];
      const bytes = Buffer.from(text, "base64");
      const read = Array.from(vector, (_, at) => bytes.readFloatLE(4 * at));
      expect(bytes.length).toBe(4 * vector.length);
      expect(read).toEqual(embeddings([vector], "float")[0]);
    }),
  );
});
