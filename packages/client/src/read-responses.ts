import type { ResponsesEvent } from "@somnus/contract";
import { type Failure, parseObject, type ReadEvent, readEvents, toldError } from "./read-events.js";

const LAST: ReadonlySet<string> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

/**
 * The events of a streamed response, as they come; the one that says how it ended is the last.
 * @throws SomnusClientError the error of a stream that failed before there was a response;
 *   `connection_lost` when the stream ends early; `invalid_response` when an event is no such event
 * @throws the signal's reason when it fires
 */
export function readResponsesStream(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<ResponsesEvent, void, void> {
  return readEvents(response, signal, readEvent);
}

function readEvent(data: string, failure: Failure): ReadEvent<ResponsesEvent> {
  const event = parseObject(data, failure);
  if (typeof event?.type !== "string") {
    throw failure("invalid_response", "An event of the answer has no type.");
  }
  if (event.type === "error") throw toldError({ ...event, type: event.code }, failure);
  return { item: event as ResponsesEvent, isLast: LAST.has(event.type) };
}
