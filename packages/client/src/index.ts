export type {
  ChatChunk,
  ChatMessage,
  ChatRequest,
  ChatResponse,
  ErrorBody,
  Health,
  MemoryModel,
  MemoryStatus,
  Model,
  ModelList,
  Ready,
  Root,
  Telemetry,
  TierMove,
  TierMoved,
  Usage,
} from "@somnus/contract";
export { SomnusClientError, type SomnusClientErrorDetails } from "./client-error.js";
export { type CallOptions, SomnusClient, type SomnusClientOptions } from "./somnus-client.js";
