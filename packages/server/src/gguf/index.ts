export { EXPERT_TENSORS } from "./layout.js";
export { readGguf } from "./read-gguf.js";
export { ggufPartPaths, readGgufModel } from "./read-gguf-model.js";
export { partName, splitName } from "./split-name.js";
export type {
  GgufAttention,
  GgufEncoder,
  GgufLayerBytes,
  GgufLayout,
  GgufProjector,
  GgufRecurrence,
  GgufSummary,
  GgufTypeBytes,
} from "./summary.js";
