import type { CompletionChunk } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";
import { streamError } from "../stream-error.js";
import type { AnswerHead } from "./answer.js";

/**
 * The chunk that ends a stream which failed after its head was sent; `choice` is the one that was
 * being answered.
 */
export function writeCompletionErrorChunk(
  head: AnswerHead,
  error: SomnusError,
  options: { choice: number; includeUsage: boolean },
): CompletionChunk {
  return {
    ...head,
    object: "text_completion",
    choices: [{ text: "", index: options.choice, logprobs: null, finish_reason: "error" }],
    ...(options.includeUsage ? { usage: null } : {}),
    error: streamError(error),
  };
}
