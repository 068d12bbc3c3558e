import type { ChatChunk, CompletionChunk } from "@somnus/contract";
import { type Failure, parseObject, type ReadEvent, readEvents, toldError } from "./read-events.js";

/**
 * The chunks of a streamed chat, as they come; `[DONE]` ends them.
 * @throws SomnusClientError the error that a chunk carries; `connection_lost` when the stream ends
 *   without `[DONE]`; `invalid_response` when an event is no chunk
 * @throws the signal's reason when it fires
 */
export function readChatStream(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChatChunk, void, void> {
  return readEvents<ChatChunk>(response, signal, readChunk);
}

/** The chunks of a streamed completion; otherwise as `readChatStream`. */
export function readCompletionStream(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<CompletionChunk, void, void> {
  return readEvents<CompletionChunk>(response, signal, readChunk);
}

function readChunk<Chunk>(data: string, failure: Failure): ReadEvent<Chunk> {
  if (data === "[DONE]") return { isLast: true };
  const chunk = parseObject(data, failure);
  if (chunk?.error) throw toldError(chunk.error, failure);
  if (chunk && ("error" in chunk || Array.isArray(chunk.choices))) {
    return { item: chunk as Chunk };
  }
  throw failure("invalid_response", "An event of the answer is not a chunk.");
}
