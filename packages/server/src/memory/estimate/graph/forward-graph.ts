import type { GgufSummary } from "../../../gguf/index.js";
import type { Want } from "../../estimate-types.js";
import { cellsOf } from "../kv-memory.js";
import type { LayerKind, LayerKinds } from "../layer-kinds.js";
import { attention } from "./attention.js";
import { type Batch, normed } from "./batch.js";
import { F32, I32 } from "./elements.js";
import { embed, head } from "./ends.js";
import { isWide, wide } from "./feed-forward.js";
import { Graph, type Tensor } from "./graph-memory.js";
import { inputsOf } from "./inputs.js";
import { recurrence } from "./recurrence.js";

/** How large a batch is laid out. */
export interface GraphSize {
  /** Tokens of one physical batch. */
  tokens: number;
  /** Tokens of it whose logits, or vectors, are wanted. */
  outputs: number;
}

/**
 * The graph of one physical batch, as `llama_context::sched_reserve` (llama-context.cpp) sizes it: the whole pool
 * is looked at, the batch is full, each slot wants one answer. Layers follow `build_arch_graph` of src/models and
 * `build_attn`, `build_ffn`, `build_moe_ffn` of llama-graph.cpp.
 */
export function forwardGraph(
  gguf: GgufSummary,
  kinds: LayerKinds,
  want: Want,
  { tokens, outputs }: GraphSize,
): Graph {
  const graph = new Graph();
  const kvCells = kinds.keepsKv
    ? cellsOf(want, kinds.window?.tokens ?? null)
    : { all: tokens, window: tokens };
  const batch: Batch = {
    graph,
    gguf,
    want,
    tokens,
    inputs: inputsOf(graph, gguf, kinds, want, tokens, kvCells),
    encoder: !kinds.keepsKv,
    windows: kinds.window !== null,
    embeddingBytes: F32 * (gguf.embeddingLength ?? 0) * tokens,
    kvCells,
  };
  const wanted = { ids: graph.input(I32 * outputs), count: outputs };
  let stream = embed(batch);
  for (const [at, kind] of kinds.layers.slice(0, kinds.run).entries()) {
    stream = layer(batch, kind, at, stream, at === kinds.run - 1 ? wanted : null);
  }
  head(batch, stream, outputs);
  return graph;
}

interface Outputs {
  ids: Tensor;
  count: number;
}

function layer(
  batch: Batch,
  kind: LayerKind,
  at: number,
  stream: Tensor,
  outputs: Outputs | null,
): Tensor {
  const { graph, gguf, encoder } = batch;
  let residual = stream;
  let mixed: Tensor | null = null;
  if (kind.attention !== null || kind.recurrent) {
    const normal = encoder ? stream : normed(graph, stream);
    const attended = kind.attention === null ? null : attention(batch, kind, at, normal);
    const scanned = kind.recurrent ? recurrence(batch, normal) : null;
    mixed =
      attended && scanned
        ? graph.overwrite(attended.bytes, [attended, scanned])
        : (attended ?? scanned);
  }
  let rows = batch.tokens;
  if (outputs) {
    rows = outputs.count;
    const bytes = F32 * (gguf.embeddingLength ?? 0) * rows;
    if (mixed) mixed = graph.compute(bytes, [mixed, outputs.ids]);
    residual = graph.compute(bytes, [residual, outputs.ids]);
  }
  const inner = mixed ? graph.overwrite(residual.bytes, [mixed, residual]) : residual;
  if (!isWide(gguf, at)) return inner;
  if (encoder) {
    const base = normed(graph, inner, true);
    const out = wide(batch, at, base, rows);
    return normed(graph, graph.overwrite(base.bytes, [out, base]), true);
  }
  return graph.overwrite(inner.bytes, [wide(batch, at, normed(graph, inner), rows), inner]);
}
