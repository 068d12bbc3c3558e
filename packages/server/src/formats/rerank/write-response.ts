import type { RerankResponse, Telemetry } from "@somnus/contract";
import type { RerankCall } from "./read-request.js";

/**
 * The best documents in the wire's form; those with the same score stay in their order.
 * @param scores from 0 to 1, in the order of the documents
 */
export function writeRerankResponse(
  { documents, best, returnDocuments }: Pick<RerankCall, "documents" | "best" | "returnDocuments">,
  scores: readonly number[],
  { model, promptTokens, telemetry }: { model: string; promptTokens: number; telemetry: Telemetry },
): RerankResponse {
  const results = scores.map((score, index) => ({
    index,
    relevance_score: score,
    ...(returnDocuments ? { document: { text: documents[index]! } } : {}),
  }));
  results.sort((a, b) => b.relevance_score - a.relevance_score);
  return {
    object: "list",
    model,
    results: results.slice(0, best),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    hypnos_telemetry: telemetry,
  };
}
