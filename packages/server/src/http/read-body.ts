import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SomnusError } from "./errors.js";

/** Whether the request brings a body at all. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return (
    request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")
  );
}

/**
 * The JSON value of a request's body. A client that waits for `100 Continue` gets it here, after
 * every check that needs no body.
 * @param limit bytes
 * @param then called once, with an error or with the value
 * @throws nothing; errors are `unsupported_media_type`, `body_limit_exceeded`, `invalid_request`, `cancelled`
 */
export function readJsonBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  then: (error: SomnusError | null, value?: unknown) => void,
): void {
  const refusal = refuseByHeaders(request, limit);
  if (refusal) {
    then(refusal);
    return;
  }
  const chunks: Buffer[] = [];
  let received = 0;

  const settle = (error: SomnusError | null, value?: unknown) => {
    request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
    then(error, value);
  };
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > limit) settle(tooLarge(limit));
    else chunks.push(chunk);
  };
  const onEnd = () => {
    let value: unknown;
    try {
      value = parseJson(
        chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, received),
      );
    } catch (error) {
      settle(error as SomnusError);
      return;
    }
    settle(null, value);
  };
  const onGone = () =>
    settle(new SomnusError("cancelled", "The client went away before its request was complete."));

  request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();
}

function refuseByHeaders(request: IncomingMessage, limit: number): SomnusError | null {
  const type = request.headers["content-type"];
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    const came =
      type === undefined
        ? "The request has no content type"
        : `The content type is "${type.slice(0, 80)}"`;
    return new SomnusError(
      "unsupported_media_type",
      `${came}; send the body as JSON with the header "content-type: application/json".`,
    );
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return new SomnusError(
      "unsupported_media_type",
      `The body has the content encoding "${encoding.slice(0, 40)}"; send it without one.`,
    );
  }
  return Number(request.headers["content-length"]) > limit ? tooLarge(limit) : null;
}

function tooLarge(limit: number): SomnusError {
  return new SomnusError(
    "body_limit_exceeded",
    `The body is larger than the ${limit} bytes that this server takes (limits.max_body_bytes).`,
  );
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) {
    throw new SomnusError("invalid_request", "The body is empty; send a JSON value.");
  }
  // Decoding would put replacement characters in their place, and the client would never know.
  if (!isUtf8(bytes)) {
    throw new SomnusError(
      "invalid_request",
      "The body is not valid UTF-8; JSON is sent in UTF-8 (RFC 8259).",
    );
  }
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw new SomnusError(
      "invalid_request",
      `The body is not valid JSON${position(error, text)}.`,
      {
        cause: new Error("malformed JSON"), // The parser's own words quote the body, which is not to be logged.
      },
    );
  }
}

/** Where the parser stopped, as it says it, without the part of the body that it quotes. */
function position(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : "";
  const found = /at position (\d+)/.exec(message);
  if (found) {
    const at = Number(found[1]);
    if (at >= text.length) return ": it ends too early";
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    return `: it goes wrong at line ${line}, column ${before.length - before.lastIndexOf("\n")}`;
  }
  return /end of JSON input|Unterminated/.test(message) ? ": it ends too early" : "";
}
