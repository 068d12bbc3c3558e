import type { GgufSummary } from "../../../gguf/index.js";
import type { Want } from "../../estimate-types.js";
import { isQuantized } from "../cache-types.js";
import { type Cells, valueElements } from "../kv-memory.js";
import { headLengths, isLatent, type LayerKind, type LayerKinds } from "../layer-kinds.js";
import { F16, F32, I32, I64 } from "./elements.js";
import type { Graph, Tensor } from "./graph-memory.js";

/** A head of so many elements, or a multiple, is rotated before it is stored in blocks. */
const ROTATED_HEAD = 64;

/** `llm_arch_supports_mixed_batch` (llama-arch.cpp): these take tokens or vectors in one batch, never both. */
const NO_MIXED_BATCH = new Set([
  "cogvlm",
  "deepseek4",
  "graniteswitch",
  "eagle3",
  "dflash",
  "gemma4-assistant",
]);

/** Tensors that are filled before a batch runs; null for those that the model has not. */
export interface Inputs {
  ids: Tensor;
  mixedIds: Tensor | null;
  mixedVectors: Tensor | null;
  mixedSlots: Tensor | null;
  /** One factor a token. */
  scale: Tensor | null;
  positions: Tensor;
  mask: { all: Tensor | null; window: Tensor | null };
  store: { all: Tensor[]; window: Tensor[] };
  rotation: { all: Rotation; window: Rotation };
}

interface Rotation {
  key: Tensor | null;
  value: Tensor | null;
}

/**
 * What is filled in before a batch runs (`build_inp_embd`, `build_attn_inp_kv_impl`, `build_attn_inp_kv_iswa`,
 * `build_attn_inp_kq_mask` and `build_attn_inp_no_cache`, llama-graph.cpp).
 */
export function inputsOf(
  graph: Graph,
  gguf: GgufSummary,
  kinds: LayerKinds,
  want: Want,
  n: number,
  cells: Cells,
): Inputs {
  const vectors = F32 * (gguf.embeddingLength ?? 0) * n;
  const mixed = !NO_MIXED_BATCH.has(gguf.architecture);
  const ids = graph.input(I32 * n);
  graph.input(vectors);
  const mixedVectors = mixed ? graph.input(vectors) : null;
  const mixedIds = mixed ? graph.input(I32 * n) : null;
  const mixedSlots = mixed ? graph.input(I64 * n) : null;
  const positions = graph.input(I32 * n);
  const maskElement = want.flashAttention === false ? F32 : F16;
  const looks = (attention: LayerKind["attention"]) =>
    kinds.layers.some((kind) => kind.attention === attention);
  const store = (): Tensor[] =>
    kinds.keepsKv
      ? [graph.input(I64 * n), graph.input(valueSlots(gguf, kinds, want) * I64 * n)]
      : [];
  const all = looks("all");
  const window = looks("window");
  return {
    ids,
    mixedIds,
    mixedVectors,
    mixedSlots,
    positions,
    scale: gguf.architecture.startsWith("gemma") ? graph.input(F32 * n) : null,
    rotation: {
      all: rotationOf(graph, gguf, kinds, want, "all"),
      window: rotationOf(graph, gguf, kinds, want, "window"),
    },
    store: { all: all ? store() : [], window: window ? store() : [] },
    mask: {
      all: all ? graph.input(maskElement * cells.all * n) : null,
      window: window ? graph.input(maskElement * cells.window * n) : null,
    },
  };
}

/** Transposed values are stored element by element (`llama_kv_cache::build_input_v_idxs`). */
function valueSlots(gguf: GgufSummary, kinds: LayerKinds, want: Want): number {
  if (want.flashAttention !== false) return 1;
  const widths = kinds.layers.map((kind, at) => valueElements(gguf, kind, at));
  return Math.max(1, ...widths);
}

/** Keys and values are rotated before they are stored in blocks (`llama_kv_cache::llama_kv_cache`, n_rot_k, n_rot_v). */
function rotationOf(
  graph: Graph,
  gguf: GgufSummary,
  kinds: LayerKinds,
  want: Want,
  area: "all" | "window",
): Rotation {
  const lengths = kinds.layers
    .filter((kind) => kind.ownKv && kind.attention === area)
    .map((kind) => headLengths(gguf, kind));
  const first = lengths[0];
  if (first === undefined || isLatent(gguf)) return { key: null, value: null };
  const rotates = (type: string | undefined, length: number, same: boolean) =>
    isQuantized(type ?? "f16") && same && length % ROTATED_HEAD === 0;
  const sameKeys = lengths.every(({ key }) => key === first.key);
  const sameValues = lengths.every(({ value }) => value === first.value);
  let side = ROTATED_HEAD;
  while (first.key % (2 * side) === 0) side *= 2;
  return {
    key: rotates(want.cacheTypeK, first.key, sameKeys) ? graph.input(F32 * side ** 2) : null,
    value: rotates(want.cacheTypeV, first.value, sameValues)
      ? graph.input(F32 * ROTATED_HEAD ** 2)
      : null,
  };
}
