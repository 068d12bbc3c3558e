export type {
  AskedGeneration,
  CapabilityWant,
  EngineTimings,
  FinishReason,
  GenerationEvent,
  GenerationMessage,
  GenerationRequest,
  MessagePart,
  NamedPicture,
  Picture,
  RawPrompt,
  Sampling,
  TokenUsage,
  Tool,
  ToolCall,
  ToolOffer,
} from "./generation.js";
export { schemaRefusal } from "./json-schema.js";
