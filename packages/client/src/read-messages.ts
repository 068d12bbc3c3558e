import type { MessagesEvent } from "@somnus/contract";
import { type Failure, parseObject, type ReadEvent, readEvents, toldError } from "./read-events.js";

/**
 * The events of a streamed message, as they come, pings left out; `message_stop` is the last.
 * @throws SomnusClientError the error that an event tells; `connection_lost` when the stream ends
 *   without `message_stop`; `invalid_response` when an event is none of these
 * @throws the signal's reason when it fires
 */
export function readMessagesStream(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<MessagesEvent, void, void> {
  return readEvents(response, signal, readEvent);
}

function readEvent(data: string, failure: Failure): ReadEvent<MessagesEvent> {
  const event = parseObject(data, failure);
  if (typeof event?.type !== "string") {
    throw failure("invalid_response", "An event of the answer has no type.");
  }
  if (event.type === "error") throw toldError(event.error, failure);
  if (event.type === "ping") return {};
  return { item: event as MessagesEvent, isLast: event.type === "message_stop" };
}
