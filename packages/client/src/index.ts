export type {
  ChatChunk,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  ErrorBody,
  Health,
  Latency,
  MemoryModel,
  MemoryStatus,
  Model,
  ModelList,
  Profile,
  Ready,
  Root,
  Telemetry,
  TierMove,
  TierMoved,
  Usage,
  WaitEstimates,
} from "@somnus/contract";
export { SomnusClientError, type SomnusClientErrorDetails } from "./client-error.js";
export {
  type AnswerHead,
  type CallOptions,
  type ModelCallOptions,
  SomnusClient,
  type SomnusClientOptions,
} from "./somnus-client.js";
