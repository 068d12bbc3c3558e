import type { GgufProjector, GgufSummary } from "../../gguf/index.js";
import type { Want } from "../estimate-types.js";
import { F16, F32 } from "./graph/elements.js";
import { forwardGraph } from "./graph/forward-graph.js";
import {
  expertFeedForwardOf,
  feedForwardOf,
  headLengths,
  headsOf,
  type LayerKinds,
} from "./layer-kinds.js";

/** Alignment of tensors in a device's buffer; CUDA's, the widest (`ggml_backend_cuda_buffer_type_get_alignment`). */
const DEVICE_ALIGNMENT = 128;
/** Bytes of an element that weights in blocks are multiplied with: `block_q8_K` of ggml-common.h, 292 for 256. */
const ACTIVATION = 292 / 256;
/** Tile of queries and keys of the fused attention (`GGML_FA_TILE_Q`, `GGML_FA_TILE_KV`, ggml-cpu/common.h). */
const ATTENTION_TILE = 64;
/** Vectors of a batch that are looked up on the host: one for each way into the graph (`build_inp_embd`). */
const LOOKED_UP = 3;
/** Tensors of one picture's graph, in vectors of its patches: those of the stream, and a feed-forward four times as wide. */
const PICTURE_VECTORS = 14;

/** Working memory of an engine; bytes. */
export interface Workspace {
  /** The compute buffer when all layers compute in one place: on a device, or on the host. */
  compute: { device: number; host: number };
  /** What the host holds of it when devices compute. */
  besideDevice: number;
  /** Logits, or vectors, of what one batch may answer. */
  output: number;
  /** Of the processor's threads; no buffer line of the log tells it. */
  threads: number;
  /** Of one picture; 0 without a projector. */
  projector: number;
}

/**
 * Working memory for one physical batch.
 *
 * @param threads compute threads of the processor
 */
export function workspaceOf(
  gguf: GgufSummary,
  kinds: LayerKinds,
  want: Want,
  threads: number,
  projector: GgufProjector | null,
): Workspace {
  const tokens = kinds.keepsKv ? Math.min(want.batchTokens, want.contextTokens) : want.batchTokens;
  // An engine that is run for vectors wants an output of every token of a batch.
  const every = want.vectors === true || !kinds.keepsKv;
  // `n_outputs_pp` of `llama_context::sched_reserve`; a server bounds it by its slots (`server_output_limits`).
  const outputs = Math.min(tokens, every ? tokens : want.slots);
  // `llama_context::graph_reserve` lays it out for as many tokens of each slot.
  const laidOut = Math.ceil(tokens / want.slots) * want.slots;
  const graph = forwardGraph(gguf, kinds, want, { tokens: laidOut, outputs });
  const vector = F32 * (gguf.embeddingLength ?? 0);
  return {
    compute: { host: graph.bufferBytes(), device: graph.bufferBytes(DEVICE_ALIGNMENT) },
    besideDevice: graph.inputBytes() + LOOKED_UP * vector * tokens,
    output: outputBytes(gguf, every ? Math.max(tokens, want.slots) : want.slots, every),
    threads: threadBytes(gguf, kinds, tokens, threads),
    projector: pictureBytes(projector),
  };
}

/** `llama_context::output_reserve` (llama-context.cpp): logits always, vectors too where they are asked for. */
function outputBytes(gguf: GgufSummary, outputs: number, vectors: boolean): number {
  const logits = gguf.vocabularySize ?? 0;
  return F32 * (logits + (vectors ? (gguf.embeddingLength ?? 0) : 0)) * outputs;
}

/** The largest of what the operations of a graph need (`ggml_graph_plan`, ggml/src/ggml-cpu/ggml-cpu.c). */
function threadBytes(
  gguf: GgufSummary,
  kinds: LayerKinds,
  tokens: number,
  threads: number,
): number {
  const element = gguf.quantization === "F16" || gguf.quantization === "BF16" ? F16 : ACTIVATION;
  let most = 0;
  for (const [at, kind] of kinds.layers.entries()) {
    const { key, value } = headLengths(gguf, kind);
    const width = Math.max(
      gguf.embeddingLength ?? 0,
      headsOf(gguf, at) * value,
      feedForwardOf(gguf, at),
      (expertFeedForwardOf(gguf, at) ?? 0) * (gguf.expertsUsed ?? 0),
    );
    const attention = F32 * threads * ATTENTION_TILE * (2 * key + 2 * value + 2 * ATTENTION_TILE);
    most = Math.max(most, element * width * tokens, attention);
  }
  return Math.ceil(most);
}

/** One picture at the projector's own size; by the shapes of `clip_graph` (tools/mtmd/clip.cpp), not measured. */
function pictureBytes(projector: GgufProjector | null): number {
  const { vision, imageSize, patchSize } = projector ?? {};
  if (!vision?.embeddingLength || !imageSize || !patchSize) return 0;
  const patches = Math.ceil(imageSize / patchSize) ** 2;
  return F32 * vision.embeddingLength * PICTURE_VECTORS * patches;
}
