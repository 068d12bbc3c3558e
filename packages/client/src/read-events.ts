import { createParser } from "eventsource-parser";
import { SomnusClientError } from "./client-error.js";
import { errorFields } from "./read-error.js";

/** What one event of a stream is: an item, the end of the answer, both, or neither. */
export interface ReadEvent<Item> {
  readonly item?: Item;
  readonly isLast?: boolean;
}

/** Makes the error of an event that cannot be what it should. */
export type Failure = (type: string, message: string, cause?: unknown) => SomnusClientError;

/**
 * The items of a streamed answer, as they come. Ends after the stream's last event; leaving the loop
 * early closes the connection, which stops the generation.
 * @param read says what the data of an event is
 * @throws SomnusClientError `connection_lost` when the stream ends before its last event, and what
 *   `read` throws
 * @throws the signal's reason when it fires
 */
export async function* readEvents<Item>(
  response: Response,
  signal: AbortSignal | undefined,
  read: (data: string, failure: Failure) => ReadEvent<Item>,
): AsyncGenerator<Item, void, void> {
  const requestId = response.headers.get("x-request-id");
  const failure: Failure = (type, message, cause) =>
    new SomnusClientError(message, { status: response.status, type, requestId, cause });
  if (response.body === null) throw failure("invalid_response", "The answer has no body.");

  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw failure(
          "connection_lost",
          "The connection to the server broke off before the answer was complete.",
          cause,
        );
      });
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      const arrived = events;
      events = [];
      for (const data of arrived) {
        const { item, isLast = false } = read(data, failure);
        isWhole = isLast;
        if (item !== undefined) yield item;
        if (isLast) return;
      }
    }
    throw failure("connection_lost", "The server ended the answer before it was complete.");
  } finally {
    if (isWhole) letEnd(reader);
    else await reader.cancel().catch(() => {});
  }
}

/** The data of an event as a JSON object. @throws SomnusClientError invalid_response */
export function parseObject(data: string, failure: Failure): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw failure("invalid_response", "An event of the answer is not JSON.", cause);
  }
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}

/** The error that an event tells of, in the middle of an answer. */
export function toldError(error: unknown, failure: Failure): SomnusClientError {
  const said = errorFields(error);
  const { status, requestId, message, type } = failure(
    said?.type ?? "server_error",
    said?.message ?? "The server failed while it answered.",
  );
  return new SomnusClientError(message, {
    status,
    type,
    code: said?.code ?? null,
    param: said?.param ?? null,
    requestId,
  });
}

/** How long a server may take to close a stream after its last event, milliseconds. */
const END_GRACE_MS = 1_000;

/** Lets the response end by itself, so that its connection can serve the next call. */
function letEnd(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => void reader.cancel().catch(() => {});
  const timer = setTimeout(cancel, END_GRACE_MS);
  reader
    .read()
    .then(cancel, () => {})
    .finally(() => clearTimeout(timer));
}
