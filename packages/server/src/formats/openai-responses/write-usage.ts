import type { ResponsesUsage } from "@somnus/contract";
import type { TokenUsage } from "../generation.js";

/** Token counts in the wire's form. Where nobody counted those of thoughts, they are known if there was none. */
export function writeUsage(usage: TokenUsage, thought: boolean): ResponsesUsage {
  const reasoning = usage.reasoningTokens ?? (thought ? undefined : 0);
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.completionTokens,
    ...(reasoning === undefined ? {} : { output_tokens_details: { reasoning_tokens: reasoning } }),
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
