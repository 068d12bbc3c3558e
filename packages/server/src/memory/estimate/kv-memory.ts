import type { GgufSummary } from "../../gguf/index.js";
import type { Want } from "../estimate-types.js";
import { cacheRowBytes } from "./cache-types.js";
import {
  headLengths,
  headsOf,
  isLatent,
  kvHeadsOf,
  type LayerKind,
  type LayerKinds,
} from "./layer-kinds.js";

/** Cells are counted in such steps: `GGML_PAD(n_ctx, 256)` in `llama_context`, the same in `llama_kv_cache_iswa`. */
const CELL_STEP = 256;
/** Recurrent states are always of this type (`llama_model::create_memory`). */
const F32_BYTES = 4;
/** `llama_hparams::token_shift_count` where the file has none. */
const TOKEN_SHIFTS = 2;

/** Cells of a KV memory: the pool context for layers that look at everything, fewer for a window. */
export interface Cells {
  all: number;
  window: number;
}

/**
 * Cells of the unified KV memory of one pool. A window needs room for what each slot looks back and for
 * one physical batch (`llama_kv_cache_iswa::llama_kv_cache_iswa`, llama-kv-cache-iswa.cpp).
 */
export function cellsOf(want: Want, windowTokens: number | null): Cells {
  const all = stepped(want.contextTokens);
  if (windowTokens === null || want.fullSlidingWindow === true) return { all, window: all };
  const batch = Math.min(want.batchTokens, want.contextTokens);
  return { all, window: stepped(Math.min(all, windowTokens * want.slots + batch)) };
}

function stepped(tokens: number): number {
  return Math.ceil(tokens / CELL_STEP) * CELL_STEP;
}

/**
 * Bytes that each layer keeps between tokens: rows of keys and values (`llama_kv_cache::llama_kv_cache`,
 * llama-kv-cache.cpp) and the state of recurrent layers, one for each slot
 * (`llama_memory_recurrent::llama_memory_recurrent`).
 *
 * @throws SomnusError `invalid_request` for an unknown cache type
 */
export function kvOfLayers(gguf: GgufSummary, kinds: LayerKinds, want: Want): number[] {
  const cells = cellsOf(want, kinds.window?.tokens ?? null);
  const row = rowsOf(gguf, kinds, want);
  return kinds.layers.map((kind, at) => {
    const count = kind.attention === "window" ? cells.window : cells.all;
    const state = kind.recurrent ? stateBytes(gguf) * Math.max(1, want.slots) : 0;
    return row(kind, at) * count + state;
  });
}

/** Bytes that one more token of pool context adds: rows of the layers whose cells grow with it. */
export function kvBytesPerToken(gguf: GgufSummary, kinds: LayerKinds, want: Want): number {
  const cells = cellsOf(want, kinds.window?.tokens ?? null);
  const row = rowsOf(gguf, kinds, want);
  return kinds.layers.reduce((sum, kind, at) => {
    const grows = kind.attention !== "window" || cells.window === cells.all;
    return sum + (grows ? row(kind, at) : 0);
  }, 0);
}

/** Elements of one token's values in a layer. */
export function valueElements(gguf: GgufSummary, kind: LayerKind, at: number): number {
  return headLengths(gguf, kind).value * kvHeadsOf(gguf, at);
}

/** Bytes that one token keeps in the KV memory of a layer. */
export function rowsOf(
  gguf: GgufSummary,
  kinds: LayerKinds,
  want: Want,
): (kind: LayerKind, at: number) => number {
  const latent = isLatent(gguf);
  const keyElements = (kind: LayerKind, at: number) =>
    headLengths(gguf, kind).key * kvHeadsOf(gguf, at);
  // Without flash attention values lie transposed, and every layer gets the rows of the widest.
  const widest =
    want.flashAttention === false
      ? Math.max(0, ...kinds.layers.map((kind, at) => valueElements(gguf, kind, at)))
      : null;
  return (kind, at) => {
    if (!kind.ownKv) return 0;
    const keys = cacheRowBytes(want.cacheTypeK ?? "f16", keyElements(kind, at));
    if (latent) return keys;
    return keys + cacheRowBytes(want.cacheTypeV ?? "f16", widest ?? valueElements(gguf, kind, at));
  };
}

/** Bytes of one slot's state in a recurrent layer: `n_embd_r` and `n_embd_s` (llama-hparams.cpp). */
export function stateBytes(gguf: GgufSummary): number {
  return (convolutionElements(gguf) + scanElements(gguf)) * F32_BYTES;
}

/** `llama_hparams::n_embd_r`. */
export function convolutionElements(gguf: GgufSummary): number {
  const from = gguf.recurrence;
  const embedding = gguf.embeddingLength ?? 0;
  if (from?.wkvHeadSize) return (from.tokenShifts ?? TOKEN_SHIFTS) * embedding;
  if (from?.shortConvolutionCache) return embedding * (from.shortConvolutionCache - 1);
  const kernel = from?.convolutionKernel ?? 0;
  if (from?.kdaHeadLength) {
    return 3 * (kernel > 0 ? kernel - 1 : 3) * headsOf(gguf, 0) * from.kdaHeadLength;
  }
  const width = (from?.innerSize ?? 0) + 2 * (from?.groups ?? 0) * (from?.stateSize ?? 0);
  return Math.max(0, kernel - 1) * width;
}

/** `llama_hparams::n_embd_s`. */
export function scanElements(gguf: GgufSummary): number {
  const from = gguf.recurrence;
  if (from?.wkvHeadSize) return (gguf.embeddingLength ?? 0) * from.wkvHeadSize;
  if (from?.kdaHeadLength) return from.kdaHeadLength ** 2 * headsOf(gguf, 0);
  if (gguf.architecture === "minimax-01") {
    return (gguf.keyLength ?? 0) ** 2 * headsOf(gguf, 0);
  }
  return (from?.stateSize ?? 0) * (from?.innerSize ?? 0);
}
