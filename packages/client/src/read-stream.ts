import type { ChatChunk } from "@somnus/contract";
import { createParser } from "eventsource-parser";
import { SomnusClientError } from "./client-error.js";
import { errorFields } from "./read-error.js";

const DONE = "[DONE]";

/**
 * The chunks of a streamed chat, as they come. Ends after the stream's `[DONE]`; leaving the loop
 * early closes the connection, which stops the generation.
 * @throws SomnusClientError the error that a chunk carries; `connection_lost` when the stream ends
 *   without `[DONE]`; `invalid_response` when an event is no chunk
 * @throws the signal's reason when it fires
 */
export async function* readChatStream(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChatChunk, void, void> {
  const requestId = response.headers.get("x-request-id");
  const failure = (type: string, message: string, cause?: unknown) =>
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
        if (data === DONE) {
          isWhole = true;
          return;
        }
        const chunk = parseChunk(data, failure);
        if ("error" in chunk && chunk.error) {
          const said = errorFields(chunk.error);
          throw new SomnusClientError(said?.message ?? "The server failed while it answered.", {
            status: response.status,
            type: said?.type ?? "server_error",
            code: said?.code ?? null,
            param: said?.param ?? null,
            requestId,
          });
        }
        yield chunk;
      }
    }
    throw failure("connection_lost", "The server ended the answer before it was complete.");
  } finally {
    if (isWhole) letEnd(reader);
    else await reader.cancel().catch(() => {});
  }
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

function parseChunk(
  data: string,
  failure: (type: string, message: string, cause?: unknown) => SomnusClientError,
): ChatChunk {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch (cause) {
    throw failure("invalid_response", "An event of the answer is not JSON.", cause);
  }
  const isChunk =
    typeof chunk === "object" &&
    chunk !== null &&
    ("error" in chunk || ("choices" in chunk && Array.isArray(chunk.choices)));
  if (!isChunk) throw failure("invalid_response", "An event of the answer is not a chat chunk.");
  return chunk as ChatChunk;
}
