import type { MessagesError } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";

/** The field by which a client would have the server remember the conversation. */
export const THREAD = "thread";

type ErrorType = MessagesError["error"]["type"];

const TYPES: Readonly<Record<number, ErrorType>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  507: "overloaded_error",
};

/** By this Anthropic's SDK knows that it has to send whole conversations, and its tool runner goes on with them. */
const NO_THREADS: NonNullable<MessagesError["error"]["details"]> = {
  error_code: "thread_unsupported_request",
  unsupported: [THREAD],
};

/**
 * An error in the form of the Messages API, as bodies and the last event of a broken stream carry it. The types are
 * those of <https://docs.anthropic.com/en/api/errors>.
 */
export function writeMessagesError(error: SomnusError, requestId: string): MessagesError {
  const { status } = error.kind;
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  const { message, param } = error;
  return {
    type: "error",
    error: { type, message, ...(param === THREAD ? { details: NO_THREADS } : {}) },
    request_id: requestId,
  };
}
