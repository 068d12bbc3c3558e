import {
  type FailedAnswer,
  meaningBy,
  readFailure,
  type VendorFailure,
  type WordsMeaning,
} from "../vendor/index.js";

/** What the types of <https://docs.anthropic.com/en/api/errors> mean where no status says it. */
const byType = meaningBy({
  invalid_request_error: "rejected",
  request_too_large: "rejected",
  authentication_error: "auth",
  permission_error: "auth",
  billing_error: "payment",
  not_found_error: "model_missing",
  rate_limit_error: "rate_limited",
  overloaded_error: "server_error",
  api_error: "server_error",
  timeout_error: "server_error",
});

/** An account without credit is told of as a request that is at fault. */
const NO_CREDIT = /credit balance is too low/i;

const ofAnswer: WordsMeaning = ({ type, message }) =>
  type === "billing_error" || NO_CREDIT.test(message) ? "payment" : null;

/** Of the words of an error that stands where an answer was to be. */
export const inAnswer: WordsMeaning = (fields) =>
  ofAnswer(fields) ?? byType({ ...fields, code: null });

/**
 * A failed answer of a vendor that speaks the Messages format, in one form for all vendors.
 * @param now unix time, ms
 */
export function readMessagesError(answer: FailedAnswer, now = Date.now()): VendorFailure {
  return readFailure(answer, ofAnswer, now);
}
