export * from "./engine.js";
export {
  CONTEXT_CHECKPOINTS,
  configuredRun,
  createLlamaEngine,
  type LlamaOptions,
  NEEDED_FLAGS,
  threadsOf,
} from "./llama/index.js";
