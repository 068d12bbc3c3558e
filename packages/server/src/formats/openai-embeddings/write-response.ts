import { endianness } from "node:os";
import type { EmbeddingsResponse, Telemetry } from "@somnus/contract";

/** The vectors in the wire's form, in their order. */
export function writeEmbeddingsResponse(
  vectors: readonly Float32Array[],
  options: {
    model: string;
    encoding: "float" | "base64";
    promptTokens: number;
    telemetry: Telemetry;
  },
): EmbeddingsResponse {
  const { model, encoding, promptTokens, telemetry } = options;
  return {
    object: "list",
    model,
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: encoding === "float" ? Array.from(vector) : littleEndian(vector),
    })),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    hypnos_telemetry: telemetry,
  };
}

function littleEndian(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === "LE" ? bytes : Buffer.from(bytes).swap32()).toString("base64");
}
