import {
  type FailedAnswer,
  type FailureKind,
  meaningBy,
  readFailure,
  type VendorFailure,
} from "../vendor/index.js";

/** Codes and types that tell more than the status does. */
const MEANINGS: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: "payment",
  billing_hard_limit_reached: "payment",
  billing_not_active: "payment",
  model_not_found: "model_missing",
  usage_limit_reached: "rate_limited",
};

/** What they mean in the error of a response, where no status says it. */
const IN_ANSWERS: Readonly<Record<string, FailureKind>> = {
  ...MEANINGS,
  rate_limit_exceeded: "rate_limited",
  server_error: "server_error",
  server_is_overloaded: "server_error",
  invalid_prompt: "rejected",
  invalid_request_error: "rejected",
  context_length_exceeded: "rejected",
};

const ofAnswer = meaningBy(MEANINGS);

/** Of the words of an error that stands where an answer was to be. */
export const inAnswer = meaningBy(IN_ANSWERS);

/**
 * A failed answer of a vendor that speaks the Responses format, in one form for all vendors.
 * @param now unix time, ms
 */
export function readResponsesError(answer: FailedAnswer, now = Date.now()): VendorFailure {
  return readFailure(answer, ofAnswer, now);
}
