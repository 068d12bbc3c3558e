import type { GgufSummary, GgufTypeBytes } from "../../gguf/index.js";

/** What a processor can do that decides which weights the engine reorders for it. */
export type ProcessorFeature = "avx2" | "avx512" | "dotprod" | "i8mm";

/**
 * Tensor types that are kept a second time, reordered, by the feature that it takes
 * (`ggml_repack_get_optimal_repack_type`, ggml/src/ggml-cpu/repack.cpp).
 */
const REPACKED_WITH: Readonly<Record<ProcessorFeature, readonly string[]>> = {
  avx2: ["Q4_0", "Q4_K", "IQ4_NL", "MXFP4"],
  avx512: ["Q2_K"],
  dotprod: ["Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "MXFP4", "Q8_0"],
  i8mm: ["Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0"],
};

/**
 * Bytes of weights that an engine without devices copies into memory of its own, beside the mapped file: a mapped
 * row cannot be reordered in place. An engine with devices takes their host buffers first and copies none
 * (`make_cpu_buft_list`, llama-model.cpp).
 */
export function repackedWeights(gguf: GgufSummary, features: readonly ProcessorFeature[]): number {
  const types = new Set(features.flatMap((feature) => REPACKED_WITH[feature]));
  const { layout } = gguf;
  const of = (bytes: GgufTypeBytes) =>
    Object.entries(bytes).reduce((sum, [type, count]) => sum + (types.has(type) ? count : 0), 0);
  const inLayers = layout.layerTypes.reduce((sum, bytes) => sum + of(bytes), 0);
  const tied =
    !layout.hasOutputWeight &&
    gguf.attention.causal !== false &&
    types.has(layout.tokenEmbeddingType ?? "")
      ? layout.tokenEmbeddingBytes
      : 0;
  return inLayers + of(layout.outputTypes) + tied;
}
