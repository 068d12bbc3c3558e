import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { SomnusError } from "./errors.js";
import { newRequestId } from "./request-id.js";
import type { ErrorWriter } from "./write-error.js";

/** How long the connection stays for the client to read the answer. */
const LINGER_MS = 1_000;

/**
 * Answers what is not HTTP, or not in time, and ends the connection. Where an answer is already
 * under way on it, the connection is only ended: a second head would end up inside that answer.
 */
export function answerClientError(
  error: Error,
  socket: Duplex,
  answering: boolean,
  write: ErrorWriter,
): void {
  if (answering || !socket.writable || ("code" in error && error.code === "ECONNRESET")) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = write(toClientError(error));
  const head = {
    ...headers,
    "x-request-id": newRequestId(),
    date: new Date().toUTCString(),
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
  // What the client still sends is read and dropped, so that its system does not drop our answer.
  socket.on("error", () => socket.destroy());
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

function toClientError(error: Error): SomnusError {
  switch ("code" in error ? error.code : undefined) {
    case "HPE_HEADER_OVERFLOW":
      return new SomnusError(
        "header_fields_too_large",
        "The path and headers of the request are too large together.",
      );
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new SomnusError(
        "invalid_request",
        "The chunk extensions of the request are too large.",
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new SomnusError("request_timeout", "The request did not arrive in time.");
    default:
      return new SomnusError("invalid_request", "This is not a valid HTTP/1.1 request.");
  }
}
