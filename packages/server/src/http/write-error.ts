import type { ErrorBody } from "@somnus/contract";
import type { ErrorCode, SomnusError } from "./errors.js";

/** An error as it goes over the wire. */
export interface WrittenError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The request that an error answers. */
export interface FailedRequest {
  readonly requestId: string;
  readonly path: string;
}

/**
 * The only place of a door that knows what its errors look like. Pure, and never throws. Without a
 * request: what came was not HTTP.
 */
export type ErrorWriter = (error: SomnusError, request?: FailedRequest) => WrittenError;

const PLAIN_TEXT: ReadonlySet<ErrorCode> = new Set(["request_timeout", "body_limit_exceeded"]);

/** The error object of the inference door, as bodies and error chunks carry it. */
export function errorObject(error: SomnusError): ErrorBody["error"] {
  const { type, wireCode, status } = error.kind;
  // Clients of OpenAI's API expect both fields on these, whatever their values.
  const always = status === 401 || status === 403 || status === 429;
  const param = error.param ?? (always ? null : undefined);
  const code = wireCode ?? (always ? type : undefined);
  return {
    message: error.message,
    type,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  };
}

/** The headers of an error of the inference door that do not depend on its body. */
export function errorHeaders(error: SomnusError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.kind.status === 401) headers["www-authenticate"] = 'Bearer realm="hypnos"';
  // Clients of OpenAI try again at once after any 5xx: another long answer that ends the same way.
  if (error.code === "invalid_model_output") headers["x-should-retry"] = "false";
  if (error.retryAfterSecs !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfterSecs)));
  }
  return headers;
}

/**
 * Errors of the inference door: `{"error": {...}}`; an elapsed request timeout and a body over the
 * door's limit are plain text.
 */
export const writeInferenceError: ErrorWriter = (error) => {
  const headers = errorHeaders(error);
  if (PLAIN_TEXT.has(error.code)) {
    headers["content-type"] = "text/plain; charset=utf-8";
    return { status: error.kind.status, headers, body: `${error.message}\n` };
  }
  headers["content-type"] = "application/json; charset=utf-8";
  return {
    status: error.kind.status,
    headers,
    body: JSON.stringify({ error: errorObject(error) } satisfies ErrorBody),
  };
};
