import type { ResponsesError, ResponsesUsage } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";
import type { TokenUsage } from "../generation.js";

/** Token counts in the wire's form. Engines count no tokens of thoughts: they are known where there was none. */
export function writeUsage(usage: TokenUsage, thought: boolean): ResponsesUsage {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.completionTokens,
    ...(thought ? {} : { output_tokens_details: { reasoning_tokens: 0 } }),
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

/** The error of a response that failed, in one of the codes that clients know. */
export function writeError(error: SomnusError): ResponsesError {
  const { status } = error.kind;
  const code =
    status === 429 ? "rate_limit_exceeded" : status < 500 ? "invalid_prompt" : "server_error";
  return { code, message: error.message };
}
