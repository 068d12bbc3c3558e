import type { MessagesError } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";

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

/**
 * An error in the form of the Messages API, as bodies and the last event of a broken stream carry it. The types are
 * those of <https://docs.anthropic.com/en/api/errors>.
 */
export function writeMessagesError(error: SomnusError, requestId: string): MessagesError {
  const { status } = error.kind;
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type, message: error.message }, request_id: requestId };
}
