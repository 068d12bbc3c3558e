export {
  createDoor,
  type Door,
  type DoorLimits,
  type DoorOptions,
  type DoorServerSettings,
} from "./door.js";
export { type ErrorCode, type ErrorDetails, SomnusError, toSomnusError } from "./errors.js";
export { type EventFraming, namedEvents } from "./framing.js";
export type { Caller, KeySettings } from "./keys.js";
export { ListenError } from "./listen-error.js";
export { createRemoteFetch, type RemoteFetch } from "./remote-fetch/index.js";
export {
  type AnswerEnd,
  type Call,
  defineRoute,
  htmlReply,
  jsonReply,
  type Reply,
  type ReplyDoc,
  type ReplyInit,
  type Route,
  type Scope,
  sseReply,
  textReply,
} from "./route.js";
export type { StreamTiming } from "./sse.js";
export type { Staging } from "./staging.js";
export {
  type ErrorWriter,
  errorHeaders,
  errorObject,
  type FailedRequest,
  type WrittenError,
  writeInferenceError,
} from "./write-error.js";
