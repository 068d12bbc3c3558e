import {
  type FailedAnswer,
  type FailureKind,
  meaningBy,
  readFailure,
  type VendorFailure,
} from "../vendor/index.js";

/** Codes and types by which OpenAI and those who speak its format tell more than their status does. */
const MEANINGS: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: "payment",
  billing_hard_limit_reached: "payment",
  billing_not_active: "payment",
  model_not_found: "model_missing",
  model_decommissioned: "model_missing",
  invalid_model: "model_missing",
};

/** What they mean where no status says it. */
const IN_ANSWERS: Readonly<Record<string, FailureKind>> = {
  ...MEANINGS,
  rate_limit_exceeded: "rate_limited",
  invalid_api_key: "auth",
  invalid_request_error: "rejected",
  context_length_exceeded: "rejected",
  content_filter: "rejected",
};

/** Of the words in a failed answer. */
const ofAnswer = meaningBy(MEANINGS);

/** Of the words of an error that stands where an answer was to be. */
export const inAnswer = meaningBy(IN_ANSWERS);

/**
 * A failed answer of a vendor that speaks the Chat Completions format, in one form for all vendors.
 * @param now unix time, ms
 */
export function readChatError(answer: FailedAnswer, now = Date.now()): VendorFailure {
  return readFailure(answer, ofAnswer, now);
}
