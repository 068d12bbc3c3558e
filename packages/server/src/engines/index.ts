export * from "./engine.js";
export { createLlamaEngine, type LlamaOptions, NEEDED_FLAGS } from "./llama/index.js";
