export type {
  EngineTimings,
  FinishReason,
  GenerationEvent,
  GenerationMessage,
  GenerationRequest,
  MessagePart,
  Sampling,
  TokenUsage,
} from "./generation.js";
export { schemaRefusal } from "./json-schema.js";
