import { SomnusClientError } from "./client-error.js";

/** Longest part of a plain-text error that is worth showing, in characters. */
const MAX_SHOWN = 500;

/**
 * The error that a response with an error status carries. Besides the server's own JSON body this
 * reads plain text, which some answers are, and what proxies in between send.
 * @throws the reason of the call's signal when it fires while the body is read
 */
export async function readErrorResponse(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<SomnusClientError> {
  let text = "";
  try {
    text = await response.text();
  } catch {
    // The status alone still says what happened, unless the caller no longer wants to know.
    signal?.throwIfAborted();
  }
  const known = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfterSecs: retryAfterSecs(response.headers.get("retry-after")),
  };
  const error = errorIn(text);
  if (error === null) {
    const isText = response.headers.get("content-type")?.startsWith("text/plain") ?? false;
    const said = isText ? text.trim().slice(0, MAX_SHOWN) : "";
    return new SomnusClientError(said || `The server answered with status ${response.status}.`, {
      ...known,
      type: typeOf(response.status),
    });
  }
  return new SomnusClientError(error.message ?? `The server answered with ${response.status}.`, {
    ...known,
    type: error.type ?? typeOf(response.status),
    code: error.code,
    param: error.param,
  });
}

interface ErrorFields {
  message: string | null;
  type: string | null;
  code: string | null;
  param: string | null;
}

function errorIn(text: string): ErrorFields | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof body !== "object" || body === null || !("error" in body)) return null;
  return errorFields(body.error);
}

/** The fields of an `error` object as far as they are what they should be; null when it is none. */
export function errorFields(error: unknown): ErrorFields | null {
  if (typeof error === "string") return { message: error, type: null, code: null, param: null };
  if (typeof error !== "object" || error === null) return null;
  const text = (key: string): string | null => {
    const value = (error as Record<string, unknown>)[key];
    return typeof value === "string" && value !== "" ? value : null;
  };
  return { message: text("message"), type: text("type"), code: text("code"), param: text("param") };
}

/** `Retry-After` as seconds from now; it is a number or a date (RFC 9110, section 10.2.3). */
export function retryAfterSecs(header: string | null, now = Date.now()): number | null {
  if (header === null || header.trim() === "") return null;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000));
}

/** The error type for a response that names none. */
function typeOf(status: number): string {
  if (status === 408 || status === 504) return "timeout";
  if (status === 413) return "payload_too_large";
  if (status >= 500) return "server_error";
  return "invalid_request_error";
}
