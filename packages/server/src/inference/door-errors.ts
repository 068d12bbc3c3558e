import { writeMessagesError } from "../formats/anthropic/index.js";
import {
  type ErrorWriter,
  errorHeaders,
  type FailedRequest,
  type SomnusError,
  type WrittenError,
  writeInferenceError,
} from "../http/index.js";

/** `/v1/messages` and what is below it. */
const MESSAGES = /^\/+v1\/+messages(?:\/|$)/;

/** The name that clients of Anthropic know the request id by. */
export const MESSAGES_REQUEST_ID = "request-id";

/** Errors of the inference door: below `/v1/messages` as the Messages API has them, else the door's own. */
export const writeDoorError: ErrorWriter = (error, request) =>
  request && MESSAGES.test(request.path)
    ? writeMessagesFailure(error, request)
    : writeInferenceError(error);

function writeMessagesFailure(error: SomnusError, { requestId }: FailedRequest): WrittenError {
  return {
    status: error.kind.status,
    headers: {
      ...errorHeaders(error),
      [MESSAGES_REQUEST_ID]: requestId,
      "content-type": "application/json; charset=utf-8",
    },
    body: JSON.stringify(writeMessagesError(error, requestId)),
  };
}
