import type { TokenUsage } from "../generation.js";
import { countOf, isObject, objectOf } from "../vendor/index.js";

/**
 * Token counts of a vendor; null where it tells none. What comes from a cache has two names, and some leave
 * thoughts out of the completion and count them in the total only: here they are part of it.
 */
export function readUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const prompt = countOf(usage.prompt_tokens);
  if (prompt === undefined) return null;
  const told = countOf(usage.completion_tokens) ?? 0;
  const inPrompt = objectOf(usage.prompt_tokens_details);
  const cached = countOf(inPrompt.cached_tokens) ?? countOf(usage.prompt_cache_hit_tokens);
  const written = countOf(inPrompt.cache_write_tokens);
  const reasoning = countOf(objectOf(usage.completion_tokens_details).reasoning_tokens);
  return {
    promptTokens: prompt,
    completionTokens: Math.max(told, (countOf(usage.total_tokens) ?? 0) - prompt),
    cachedTokens: cached ?? countOf(usage.cached_tokens) ?? 0,
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}
