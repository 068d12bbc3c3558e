export {
  cutOff,
  type FailureKind,
  unreadable,
  VendorError,
  type VendorFailure,
} from "./failure.js";
export { countOf, isObject, type Json, listOf, objectOf, textOf } from "./json.js";
export { pictureUrl, type SentPicture, sentPicture, writeSound } from "./media.js";
export { parseFrame } from "./parse-frame.js";
export { type PartialCall, reasonBeside, wholeCall } from "./read-call.js";
export {
  type ErrorFields,
  errorInAnswer,
  type FailedAnswer,
  meaningBy,
  readFailure,
  type WordsMeaning,
} from "./read-failure.js";
export {
  type Frame,
  type FrameReader,
  Ignored,
  readFrames,
  type VendorReading,
} from "./read-frames.js";
export { readLogprobs } from "./read-logprobs.js";
export { isStrictSchema } from "./strict-schema.js";
export { Dropped, type RequestField, type WrittenRequest } from "./written-request.js";
