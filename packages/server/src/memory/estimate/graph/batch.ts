import type { GgufSummary } from "../../../gguf/index.js";
import type { Want } from "../../estimate-types.js";
import type { Cells } from "../kv-memory.js";
import type { Graph, Tensor } from "./graph-memory.js";
import type { Inputs } from "./inputs.js";

/** One physical batch on its way through a model. */
export interface Batch {
  readonly graph: Graph;
  readonly gguf: GgufSummary;
  readonly want: Want;
  readonly tokens: number;
  readonly inputs: Inputs;
  readonly encoder: boolean;
  /** Some layers have a window. */
  readonly windows: boolean;
  /** Bytes of the stream: one vector a token. */
  readonly embeddingBytes: number;
  /** What attention looks at: the KV memory, or the batch itself in an encoder. */
  readonly kvCells: Cells;
}

/** `build_norm`: `ggml_rms_norm` may overwrite, `ggml_norm` may not; the factors are applied in place. */
export function normed(graph: Graph, tensor: Tensor, plain = false): Tensor {
  const norm = plain
    ? graph.compute(tensor.bytes, [tensor])
    : graph.overwrite(tensor.bytes, [tensor]);
  return graph.overwrite(norm.bytes, [norm]);
}
