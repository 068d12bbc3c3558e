import { headLengths, headsOf, isLatent, kvHeadsOf, type LayerKind } from "../layer-kinds.js";
import { type Batch, normed } from "./batch.js";
import { F16, F32 } from "./elements.js";
import type { Tensor } from "./graph-memory.js";

/** Attention of one layer over its own normed stream (`build_qkv` and `build_attn`, llama-graph.cpp). */
export function attention(batch: Batch, kind: LayerKind, at: number, normal: Tensor): Tensor {
  const { graph, gguf, want, inputs, tokens: n, embeddingBytes } = batch;
  if (isLatent(gguf)) return latentAttention(batch, kind, at, normal);
  const { key, value } = headLengths(gguf, kind);
  const rotation = inputs.rotation[kind.attention ?? "all"];
  const heads = headsOf(gguf, at);
  const turned = (bytes: number) => {
    const made = graph.compute(bytes, [normal]);
    return batch.encoder ? made : graph.overwrite(bytes, [made, inputs.positions]);
  };
  const rotated = (tensor: Tensor, by: Tensor | null) =>
    by ? graph.compute(tensor.bytes, [by, tensor]) : tensor;
  const queries = rotated(turned(F32 * heads * key * n), rotation.key);
  const kvHeads = kvHeadsOf(gguf, at);
  const keys = () => rotated(turned(F32 * kvHeads * key * n), rotation.key);
  const values = () => rotated(graph.compute(F32 * kvHeads * value * n, [normal]), rotation.value);
  const looksAt: Tensor[] = [];
  if (batch.encoder) {
    const made = [keys(), values()];
    if (want.flashAttention === false) looksAt.push(...made);
    else for (const part of made) looksAt.push(graph.compute((part.bytes / F32) * F16, [part]));
  } else if (kind.ownKv) {
    // `build_attn` makes values first, except for a memory with windows; then both are stored.
    const early = batch.windows ? null : values();
    const k = keys();
    const v = early ?? values();
    const [keySlots, valueSlots] = inputs.store[kind.attention ?? "all"];
    graph.use(keySlots ? [k, keySlots] : [k]);
    graph.use(valueSlots ? [v, valueSlots] : [v]);
  }
  const out = look(batch, kind, heads, value, queries, looksAt);
  const back = rotated(out, rotation.value);
  return graph.compute(embeddingBytes, [back]);
}

/** `build_attn_mha`: one fused operation, or the whole matrix of scores. */
function look(
  { graph, want, inputs, tokens: n, kvCells }: Batch,
  kind: LayerKind,
  heads: number,
  valueLength: number,
  queries: Tensor,
  looksAt: readonly Tensor[],
): Tensor {
  const area = kind.attention ?? "all";
  const mask = inputs.mask[area];
  const masked = mask ? [mask] : [];
  const bytes = F32 * heads * valueLength * n;
  if (want.flashAttention !== false) return graph.compute(bytes, [queries, ...looksAt, ...masked]);
  const scores = graph.compute(F32 * kvCells[area] * n * heads, [queries, ...looksAt.slice(0, 1)]);
  const shares = graph.overwrite(scores.bytes, [scores, ...masked]);
  const found = graph.compute(bytes, [shares, ...looksAt.slice(1)]);
  return graph.compute(bytes, [found]);
}

/** Latent attention with its absorbed matrices (`llama_model_deepseek2::graph`, src/models/deepseek2.cpp). */
function latentAttention(batch: Batch, kind: LayerKind, at: number, normal: Tensor): Tensor {
  const { graph, gguf, inputs, tokens: n, embeddingBytes } = batch;
  const heads = headsOf(gguf, at);
  const rank = gguf.attention.kvLoraRank ?? 0;
  const turn = gguf.attention.ropeDimensions ?? 0;
  const keyLength = gguf.attention.mlaKeyLength ?? 0;
  const valueLength = gguf.attention.mlaValueLength ?? 0;
  const queries = graph.compute(F32 * heads * keyLength * n, [normal]);
  const row = graph.compute(F32 * (rank + turn) * n, [normal]);
  const turnedQueries = graph.compute(F32 * heads * turn * n, [queries, inputs.positions]);
  const turnedKeys = graph.compute(F32 * turn * n, [row, inputs.positions]);
  const compressed = normed(graph, graph.compute(F32 * rank * n, [row]));
  const absorbed = graph.compute(F32 * heads * rank * n, [queries]);
  const wholeQueries = graph.compute(F32 * heads * (rank + turn) * n, [absorbed, turnedQueries]);
  const wholeKeys = graph.compute(F32 * (rank + turn) * n, [compressed, turnedKeys]);
  const [slots] = inputs.store.all;
  graph.use(slots ? [wholeKeys, slots] : [wholeKeys]);
  const found = look(batch, kind, heads, rank, wholeQueries, []);
  const values = graph.compute(F32 * heads * valueLength * n, [found]);
  const joined = graph.compute(values.bytes, [values]);
  return graph.compute(embeddingBytes, [joined]);
}
