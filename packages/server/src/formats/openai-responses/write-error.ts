import type { ResponsesError } from "@somnus/contract";
import type { SomnusError } from "../../http/errors.js";

/** The error of a response that failed, in one of the codes that clients know. */
export function writeError(error: SomnusError): ResponsesError {
  const { status } = error.kind;
  const code =
    status === 429 ? "rate_limit_exceeded" : status < 500 ? "invalid_prompt" : "server_error";
  return { code, message: error.message };
}
