import type { ResponsesAnswer, ResponsesError, ResponsesUsage, Telemetry } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";
import type { GenerationEvent, TokenUsage } from "../generation.js";
import type { ResponsesWriter } from "./write-stream.js";

/**
 * Joins a generation into one response.
 * @throws SomnusError engine_failed when the engine ended the answer without saying why, and what `events` throws
 */
export async function writeResponsesAnswer(
  writer: ResponsesWriter,
  events: AsyncIterable<GenerationEvent>,
  telemetry: () => Telemetry,
): Promise<ResponsesAnswer> {
  for await (const _ of writer.write(events, telemetry));
  return writer.response;
}

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
