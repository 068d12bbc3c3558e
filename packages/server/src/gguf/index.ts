export { EXPERT_TENSORS } from "./layout.js";
export { readGguf } from "./read-gguf.js";
export type {
  GgufAttention,
  GgufEncoder,
  GgufLayerBytes,
  GgufLayout,
  GgufProjector,
  GgufRecurrence,
  GgufSummary,
} from "./summary.js";
