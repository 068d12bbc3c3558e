import type { TokenUsage } from "../generation.js";
import { countOf, isObject, objectOf } from "../vendor/index.js";

/** Token counts of a vendor's response; null where it tells none. */
export function readUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const prompt = countOf(usage.input_tokens);
  if (prompt === undefined) return null;
  const reasoning = countOf(objectOf(usage.output_tokens_details).reasoning_tokens);
  return {
    promptTokens: prompt,
    completionTokens: countOf(usage.output_tokens) ?? 0,
    cachedTokens: countOf(objectOf(usage.input_tokens_details).cached_tokens) ?? 0,
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}
