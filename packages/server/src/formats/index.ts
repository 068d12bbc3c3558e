export type {
  AskedGeneration,
  CapabilityWant,
  EngineTimings,
  FinishReason,
  GenerationEvent,
  GenerationMessage,
  GenerationRequest,
  Media,
  MessagePart,
  NamedMedia,
  NamedPicture,
  NamedSound,
  Picture,
  RawPrompt,
  Sampling,
  Sound,
  TokenUsage,
  Tool,
  ToolCall,
  ToolOffer,
} from "./generation.js";
export { holdSchema, outOfBounds, SchemaFault } from "./held-schema/index.js";
export { isObject } from "./is-object.js";
export { schemaRefusal } from "./json-schema.js";
