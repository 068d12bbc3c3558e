import type { GgufSummary } from "../../gguf/index.js";
import { type SlidingWindow, slidingLayers } from "./sliding-window.js";

/** What one layer keeps between tokens. */
export interface LayerKind {
  /** Which keys and values its attention looks at; null for a layer without attention. */
  attention: "all" | "window" | null;
  /** False where attention reads the keys and values of an earlier layer, or the engine never runs the layer. */
  ownKv: boolean;
  recurrent: boolean;
}

/** The layers of a model, as llama.cpp runs them. */
export interface LayerKinds {
  layers: LayerKind[];
  /** Layers that answer; those after them only predict further tokens, and are not run. */
  run: number;
  /** Null where no layer has a window. */
  window: SlidingWindow | null;
  /** False for encoders: nothing is kept between batches. */
  keepsKv: boolean;
  /** What the formulas leave out for this architecture, for people; empty where nothing is known to be missing. */
  omissions: string[];
}

/** `llama_model::create_memory` (llama-model.cpp): these get no memory at all. */
const WITHOUT_MEMORY = new Set([
  "bert",
  "jina-bert-v2",
  "jina-bert-v3",
  "nomic-bert",
  "nomic-bert-moe",
  "neo-bert",
  "eurobert",
  "wavtokenizer-dec",
  "modern-bert",
  "gemma-embedding",
  "dream",
  "llada",
  "llada-moe",
  "rnd1",
  "clef",
]);

/** `llm_arch_is_recurrent` (llama-arch.cpp): no layer has attention. */
const RECURRENT = new Set(["mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"]);

/** Hybrids whose recurrent layers are those without key/value heads (`load_arch_hparams` of each in src/models). */
const RECURRENT_WITHOUT_KV_HEADS = new Set([
  "jamba",
  "plamo2",
  "granitehybrid",
  "lfm2",
  "lfm2moe",
  "kimi-linear",
  "kimi-k3",
  "bailingmoe3",
  "glm5-next",
]);

/** Hybrids with one layer of full attention in so many, where the file lists no layers (same place). */
const RECURRENT_BY_INTERVAL: Readonly<Record<string, number>> = {
  qwen3next: 4,
  qwen35: 4,
  qwen35moe: 4,
  qwen4exp: 4,
  "minimax-01": 8,
};

/** Memories that hold more than keys, values and states (`llama_model::create_memory`, llama-model.cpp). */
const FURTHER_MEMORY = new Set([
  "minimax-m3",
  "glm-dsa",
  "deepseek32",
  "deepseek4",
  "glm5-next",
  "hy_v4",
  "dots3note",
  "qwen4exp",
  "dflash",
]);

/** Layers of gemma3n that have keys and values of their own (`llama_model_gemma3n::load_arch_hparams`). */
const GEMMA3N_KV_LAYERS = 20;

/** What each layer of a model keeps, by the rules of `llama_model::create_memory` and its layer filters. */
export function layerKinds(gguf: GgufSummary): LayerKinds {
  const { architecture } = gguf;
  const count = gguf.layers ?? gguf.layout.layers.length;
  const run = count - predictionLayers(gguf, count);
  const window = slidingLayers(gguf, count);
  const keepsKv = !WITHOUT_MEMORY.has(architecture);
  const sharedFrom = firstSharedLayer(gguf, count);
  const layers = Array.from({ length: count }, (_, at): LayerKind => {
    const recurrent = at < run && isRecurrent(gguf, at);
    const attention = hasAttention(gguf, at, recurrent);
    return {
      attention: !attention ? null : window?.layers[at] === true ? "window" : "all",
      ownKv: keepsKv && attention && at < run && at < sharedFrom,
      recurrent,
    };
  });
  const omissions = FURTHER_MEMORY.has(architecture)
    ? [
        `an engine keeps more for each token of ${architecture} than keys and values; it is not counted`,
      ]
    : [];
  return {
    layers,
    run,
    window: layers.some((layer) => layer.attention === "window") ? window : null,
    keepsKv,
    omissions,
  };
}

function predictionLayers(gguf: GgufSummary, count: number): number {
  const predicting = gguf.predictionLayers ?? 0;
  return predicting < count ? predicting : 0;
}

/** `llama_hparams::has_kv` (llama-hparams.cpp) with the counts of gemma3n.cpp and gemma4.cpp. */
function firstSharedLayer(gguf: GgufSummary, count: number): number {
  if (gguf.architecture === "gemma3n") return GEMMA3N_KV_LAYERS;
  if (gguf.architecture === "gemma4") return count - (gguf.attention.sharedKvLayers ?? 0);
  return count;
}

function isRecurrent(gguf: GgufSummary, at: number): boolean {
  const { architecture, recurrence } = gguf;
  if (RECURRENT.has(architecture) || architecture === "falcon-h1") return true;
  if (RECURRENT_WITHOUT_KV_HEADS.has(architecture)) return kvHeadsOf(gguf, at) === 0;
  if (architecture.startsWith("nemotron_h")) {
    return kvHeadsOf(gguf, at) === 0 && feedForwardOf(gguf, at) === 0;
  }
  const interval = RECURRENT_BY_INTERVAL[architecture];
  if (interval === undefined) return false;
  const listed = recurrence?.recurrentLayers;
  if (listed) return listed[at] === true;
  return (at + 1) % (recurrence?.fullAttentionInterval ?? interval) !== 0;
}

function hasAttention(gguf: GgufSummary, at: number, recurrent: boolean): boolean {
  if (gguf.architecture === "falcon-h1") return true;
  if (recurrent) return false;
  if (gguf.architecture.startsWith("nemotron_h")) return feedForwardOf(gguf, at) === 0;
  return kvHeadsOf(gguf, at) > 0;
}

/** Query heads of a layer. */
export function headsOf(gguf: GgufSummary, at: number): number {
  return gguf.headsPerLayer?.[at] ?? gguf.heads ?? 0;
}

/** Key/value heads of a layer; as many as query heads where the file does not say. */
export function kvHeadsOf(gguf: GgufSummary, at: number): number {
  if (gguf.kvHeads === null) return headsOf(gguf, at);
  return Array.isArray(gguf.kvHeads) ? (gguf.kvHeads[at] ?? 0) : gguf.kvHeads;
}

/** Feed-forward length of a layer; 0 for a layer without. */
export function feedForwardOf(gguf: GgufSummary, at: number): number {
  const length = gguf.feedForwardLength;
  return (Array.isArray(length) ? length[at] : length) ?? 0;
}

/** Feed-forward length of one expert of a layer; null where the file does not say. */
export function expertFeedForwardOf(gguf: GgufSummary, at: number): number | null {
  const length = gguf.expertFeedForwardLength;
  return (Array.isArray(length) ? length[at] : length) ?? null;
}

/** Elements of one head's key and value, which sliding-window layers may have others of. */
export function headLengths(gguf: GgufSummary, kind: LayerKind): { key: number; value: number } {
  const heads = headsOf(gguf, 0);
  const even = heads > 0 ? Math.floor((gguf.embeddingLength ?? 0) / heads) : 0;
  const all = { key: gguf.keyLength ?? even, value: gguf.valueLength ?? even };
  if (kind.attention !== "window") return all;
  return {
    key: gguf.attention.slidingKeyLength ?? all.key,
    value: gguf.attention.slidingValueLength ?? all.value,
  };
}

/** Latent attention that keeps one compressed row a token, and no values (`llama_hparams::is_mla`). */
export function isLatent(gguf: GgufSummary): boolean {
  return (gguf.attention.mlaKeyLength ?? 0) > 0 && (gguf.attention.mlaValueLength ?? 0) > 0;
}
