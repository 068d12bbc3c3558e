import { SomnusError, toSomnusError } from "./errors.js";

/** Errors of the framework that are the client's doing. */
const CLIENT_ERRORS: Readonly<Record<string, () => SomnusError>> = {
  FST_ERR_BAD_URL: () =>
    new SomnusError(
      "invalid_request",
      "The path is malformed: a % must be followed by two hex digits of UTF-8.",
    ),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new SomnusError("not_found", "The path is too long to be anything here."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new SomnusError(
      "unsupported_media_type",
      'The content type is malformed; send the body as JSON with the header "content-type: application/json".',
    ),
};

/** Any error that reaches a door's error handler, as one of ours. */
export function fromFramework(error: unknown): SomnusError {
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return CLIENT_ERRORS[code]?.() ?? toSomnusError(error);
}
