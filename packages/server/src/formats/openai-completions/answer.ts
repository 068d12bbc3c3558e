import type { Usage } from "@somnus/contract";
import type { FinishReason, TokenUsage } from "../generation.js";

/** What every response object of one answer carries. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  /** The id of the model that answers. */
  model: string;
}

/**
 * Token counts of all choices in the wire's form: each prompt once, the answers together.
 * @param perPrompt choices that were generated for each prompt
 */
export function writeUsage(usages: readonly TokenUsage[], perPrompt: number): Usage {
  let prompt = 0;
  let cached = 0;
  let completion = 0;
  for (const [index, usage] of usages.entries()) {
    completion += usage.completionTokens;
    if (index % perPrompt !== 0) continue;
    prompt += usage.promptTokens;
    cached += usage.cachedTokens;
  }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 ? { prompt_tokens_details: { cached_tokens: cached } } : {}),
  };
}

/** Why a choice ended, in the wire's words: calls are nothing that it knows. */
export function finishReason(reason: FinishReason): "stop" | "length" | "content_filter" {
  return reason === "tool_calls" ? "stop" : reason;
}
