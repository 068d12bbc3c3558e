import type { GgufLayerBytes, GgufSummary } from "../../../gguf/index.js";

/** What a test says of a model; the rest is that of a small dense one without weights. */
export type Given = Partial<Omit<GgufSummary, "attention" | "layout">> & {
  attention?: Partial<GgufSummary["attention"]>;
  layout?: Partial<GgufSummary["layout"]>;
};

/** A model that no file holds. */
export function summary(given: Given): GgufSummary {
  const layers = given.layers ?? 2;
  const empty: GgufLayerBytes[] = Array.from({ length: layers }, () => ({
    bytes: 0,
    expertBytes: 0,
  }));
  return {
    architecture: "llama",
    type: "model",
    name: null,
    quantization: "Q4_0",
    version: 3,
    fileBytes: 0,
    tensorBytes: 0,
    expertBytes: 0,
    tensorCount: 0,
    parameters: 0,
    layers,
    contextLength: null,
    embeddingLength: null,
    feedForwardLength: null,
    heads: null,
    headsPerLayer: null,
    kvHeads: null,
    keyLength: null,
    valueLength: null,
    experts: null,
    expertsUsed: null,
    expertsShared: null,
    expertFeedForwardLength: null,
    leadingDenseLayers: null,
    predictionLayers: null,
    slidingWindow: null,
    recurrence: null,
    vocabularySize: null,
    vocabularyMerges: null,
    chatTemplate: null,
    pooling: null,
    license: null,
    split: null,
    projector: null,
    ...given,
    attention: {
      causal: null,
      ropeDimensions: null,
      kvLoraRank: null,
      mlaKeyLength: null,
      mlaValueLength: null,
      slidingKeyLength: null,
      slidingValueLength: null,
      slidingPeriod: null,
      slidingLayers: null,
      sharedKvLayers: null,
      ...given.attention,
    },
    layout: {
      layers: empty,
      inputBytes: 0,
      tokenEmbeddingBytes: 0,
      outputBytes: 0,
      otherBytes: 0,
      hasOutputWeight: true,
      layerTypes: empty.map(() => ({})),
      outputTypes: {},
      tokenEmbeddingType: null,
      ...given.layout,
    },
  };
}

/** Nothing recurrent said: for the fields that a test does not need. */
export const NO_RECURRENCE: NonNullable<GgufSummary["recurrence"]> = {
  convolutionKernel: null,
  innerSize: null,
  stateSize: null,
  timeStepRank: null,
  groups: null,
  wkvHeadSize: null,
  tokenShifts: null,
  shortConvolutionCache: null,
  kdaHeadLength: null,
  fullAttentionInterval: null,
  recurrentLayers: null,
};

/** The shape of SmolLM2-135M. */
export const SMOLLM2: Given = {
  architecture: "llama",
  layers: 30,
  embeddingLength: 576,
  feedForwardLength: 1536,
  heads: 9,
  kvHeads: 3,
  vocabularySize: 49_152,
  vocabularyMerges: 48_900,
};

/** The shape of Qwen2.5-Coder-0.5B. */
export const QWEN: Given = {
  architecture: "qwen2",
  layers: 24,
  embeddingLength: 896,
  feedForwardLength: 4864,
  heads: 14,
  kvHeads: 2,
  vocabularySize: 151_936,
};

/** The shape of gemma-3-270m. */
export const GEMMA3: Given = {
  architecture: "gemma3",
  layers: 18,
  embeddingLength: 640,
  feedForwardLength: 2048,
  heads: 4,
  kvHeads: 1,
  keyLength: 256,
  valueLength: 256,
  slidingWindow: 512,
  vocabularySize: 262_144,
};

/** The shape of all-MiniLM-L6-v2. */
export const MINILM: Given = {
  architecture: "bert",
  layers: 6,
  embeddingLength: 384,
  feedForwardLength: 1536,
  heads: 12,
  pooling: "mean",
  vocabularySize: 30_522,
  attention: { causal: false },
};
