import type { GgufSummary } from "../../../gguf/index.js";
import { expertFeedForwardOf, feedForwardOf } from "../layer-kinds.js";
import type { Batch } from "./batch.js";
import { F32, I32 } from "./elements.js";
import type { Tensor } from "./graph-memory.js";

/** Encoders that are normed by `ggml_norm`, and whose feed-forward has no gate (src/models/bert.cpp). */
const PLAIN_FEED_FORWARD = new Set(["bert", "nomic-bert-moe", "jina-bert-v3"]);

/** The wide part of a layer: dense, or of experts. */
export function wide(batch: Batch, at: number, normal: Tensor, rows: number): Tensor {
  return hasExperts(batch.gguf, at)
    ? experts(batch, at, normal, rows)
    : feedForward(batch, at, normal, rows);
}

/** Whether a layer has a wide part. */
export function isWide(gguf: GgufSummary, at: number): boolean {
  return hasExperts(gguf, at) || feedForwardOf(gguf, at) > 0;
}

/** `build_ffn`: gate and up side by side, or up alone where there is no gate. */
function feedForward({ graph, gguf }: Batch, at: number, normal: Tensor, rows: number): Tensor {
  const bytes = F32 * feedForwardOf(gguf, at) * rows;
  const out = F32 * (gguf.embeddingLength ?? 0) * rows;
  if (PLAIN_FEED_FORWARD.has(gguf.architecture)) {
    const up = graph.compute(bytes, [normal]);
    return graph.compute(out, [graph.overwrite(bytes, [up])]);
  }
  const gate = graph.compute(bytes, [normal]);
  const up = graph.compute(bytes, [normal]);
  return graph.compute(out, [graph.compute(bytes, [gate, up])]);
}

function hasExperts(gguf: GgufSummary, at: number): boolean {
  const layer = gguf.layout.layers[at];
  return (gguf.experts ?? 0) > 0 && (layer?.expertBytes ?? 0) > 0;
}

/** `build_moe_ffn`: each token's experts side by side, then their sum, and shared experts beside them. */
function experts(batch: Batch, at: number, normal: Tensor, rows: number): Tensor {
  const { graph, gguf } = batch;
  const used = gguf.expertsUsed ?? 1;
  const length = expertFeedForwardOf(gguf, at) ?? feedForwardOf(gguf, at);
  const inner = F32 * length * used * rows;
  const out = F32 * (gguf.embeddingLength ?? 0) * rows;
  const scores = graph.compute(F32 * (gguf.experts ?? 0) * rows, [normal]);
  const shares = graph.overwrite(scores.bytes, [scores]);
  const chosen = graph.compute(I32 * (gguf.experts ?? 0) * rows, [shares]);
  const weights = graph.compute(F32 * used * rows, [shares, chosen]);
  const up = graph.compute(inner, [normal, chosen]);
  const gate = graph.compute(inner, [normal, chosen]);
  const both = graph.compute(inner, [gate, up]);
  const each = graph.compute(out * used, [both, chosen]);
  const weighted = graph.overwrite(each.bytes, [each, weights]);
  let sum = used > 1 ? graph.compute(out, [weighted]) : weighted;
  for (let more = 2; more < used; more += 1) sum = graph.overwrite(out, [sum, weighted]);
  if ((gguf.expertsShared ?? 0) === 0) return sum;
  const shared = F32 * length * (gguf.expertsShared ?? 0) * rows;
  const sharedGate = graph.compute(shared, [normal]);
  const sharedUp = graph.compute(shared, [normal]);
  const sharedOut = graph.compute(out, [graph.compute(shared, [sharedGate, sharedUp])]);
  return graph.overwrite(out, [sum, sharedOut]);
}
