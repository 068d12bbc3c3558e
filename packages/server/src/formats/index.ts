export type {
  CapabilityWant,
  EngineTimings,
  FinishReason,
  GenerationEvent,
  GenerationMessage,
  GenerationRequest,
  MessagePart,
  Sampling,
  TokenUsage,
  Tool,
  ToolCall,
  ToolOffer,
} from "./generation.js";
export { schemaRefusal } from "./json-schema.js";
