import type { ChatChunk } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";
import { streamError } from "../stream-error.js";
import type { AnswerHead } from "./answer.js";

/**
 * The chunk that ends a stream which failed after its head was sent; `choice` is the one that was
 * being answered.
 */
export function writeChatErrorChunk(
  head: AnswerHead,
  error: SomnusError,
  options: { choice: number; includeUsage: boolean },
): ChatChunk {
  return {
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: options.choice, delta: {}, finish_reason: "error" }],
    ...(options.includeUsage ? { usage: null } : {}),
    error: streamError(error),
  };
}
