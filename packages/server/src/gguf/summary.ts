/** What the header of a GGUF file says about its model. Unknown is null; sizes in bytes. */
export interface GgufSummary {
  /**
   * `general.architecture`. "clip" for a projector (mmproj) file; empty in the later parts of a split
   * file, which say nothing about the model.
   */
  architecture: string;
  /** `general.type`: "model", "mmproj", "adapter". */
  type: string | null;
  name: string | null;
  /** Quantization by `general.file_type`, else by the tensors: "Q4_K_M", "F16". */
  quantization: string | null;
  /** Format version of the file. */
  version: number;
  /** Whole file. */
  fileBytes: number;
  /** All tensor data; of a split file, this part's. The same holds for every sum below. */
  tensorBytes: number;
  /** Tensor data of routed expert weights; 0 for a dense model. Shared experts are not among them. */
  expertBytes: number;
  tensorCount: number;
  /** Elements of all tensors. */
  parameters: number;
  layers: number | null;
  /** Trained context length, tokens. */
  contextLength: number | null;
  embeddingLength: number | null;
  /** Per layer where the file lists it so. */
  feedForwardLength: number | number[] | null;
  /** Query heads; null also where they differ between layers. */
  heads: number | null;
  /** Query heads of each layer, where the file lists them so. */
  headsPerLayer: number[] | null;
  /**
   * Key/value heads; per layer where the file lists them so (0 for a layer without attention). Null:
   * as many as `heads`.
   */
  kvHeads: number | number[] | null;
  /** Elements of one head's key. Null: `embeddingLength / heads`; so for values. */
  keyLength: number | null;
  valueLength: number | null;
  experts: number | null;
  /** Experts that one token takes; null also where it differs between layers. */
  expertsUsed: number | null;
  expertsShared: number | null;
  /** Per layer where the file lists it so. */
  expertFeedForwardLength: number | number[] | null;
  /** Layers at the start that have no experts. */
  leadingDenseLayers: number | null;
  /** Layers at the end, counted in `layers`, that serve multi-token prediction only. */
  predictionLayers: number | null;
  /** Tokens that a sliding-window layer looks back; null also where the file switches it off with 0. */
  slidingWindow: number | null;
  attention: GgufAttention;
  /** Null for a model without recurrent layers. */
  recurrence: GgufRecurrence | null;
  vocabularySize: number | null;
  /** Merge rules of its tokenizer; null for one that has none. */
  vocabularyMerges: number | null;
  chatTemplate: string | null;
  /** Present for embedding models: none, mean, cls, last, rank. */
  pooling: string | null;
  license: string | null;
  /** Part number, from 0, and count of a split file. */
  split: { index: number; count: number } | null;
  /** Null for a file that is not a projector. */
  projector: GgufProjector | null;
  layout: GgufLayout;
}

/**
 * What the size of the KV memory depends on beside heads and lengths. Plain numbers of the file, null
 * where it does not say: the rules that turn them into bytes belong to the engine.
 */
export interface GgufAttention {
  /** False for encoders. */
  causal: boolean | null;
  ropeDimensions: number | null;
  /** Rank of the compressed KV row of multi-head latent attention (MLA). */
  kvLoraRank: number | null;
  mlaKeyLength: number | null;
  mlaValueLength: number | null;
  /** Key and value lengths of sliding-window layers, where they differ from the others. */
  slidingKeyLength: number | null;
  slidingValueLength: number | null;
  /** One layer in this many looks at everything. Null does not mean none: engines know defaults by architecture. */
  slidingPeriod: number | null;
  /** For each layer, whether it is a sliding-window layer. */
  slidingLayers: boolean[] | null;
  /** Layers at the end that use the KV of an earlier one. */
  sharedKvLayers: number | null;
}

/** What the size of the state of recurrent layers depends on. Null where the file does not say. */
export interface GgufRecurrence {
  convolutionKernel: number | null;
  innerSize: number | null;
  stateSize: number | null;
  timeStepRank: number | null;
  groups: number | null;
  /** RWKV. */
  wkvHeadSize: number | null;
  /** RWKV. */
  tokenShifts: number | null;
  /** LFM2. */
  shortConvolutionCache: number | null;
  /** Kimi delta attention. */
  kdaHeadLength: number | null;
  /** One layer in this many has full attention, the others are recurrent. */
  fullAttentionInterval: number | null;
  /** For each layer, whether it is recurrent. */
  recurrentLayers: boolean[] | null;
}

/** What a projector (mmproj) file brings to its language model. */
export interface GgufProjector {
  vision: GgufEncoder | null;
  audio: GgufEncoder | null;
  /** Pixels of a side. */
  imageSize: number | null;
  /** Pixels of a side. */
  patchSize: number | null;
}

/** One encoder of a projector file. */
export interface GgufEncoder {
  /** Kind of projector, as the engine names it: "mlp", "qwen2vl_merger". */
  projectorType: string | null;
  layers: number | null;
  embeddingLength: number | null;
  /** Embedding length of the language model that it fits. */
  projectionLength: number | null;
}

/** Tensor bytes by the place an engine gives them; they add up to `tensorBytes`. */
export interface GgufLayout {
  /** By layer number. A layer whose tensors are in another part of a split file has 0. */
  layers: GgufLayerBytes[];
  /** Embedding tables, which stay in host memory. */
  inputBytes: number;
  /** The token embedding among them. */
  tokenEmbeddingBytes: number;
  /** Output head and final norm, placed like one more layer. */
  outputBytes: number;
  /** Tensors outside layers, input and output; in a projector file, all. */
  otherBytes: number;
  /** False: a decoder uses the token embedding as output head, and an offloading engine copies it. */
  hasOutputWeight: boolean;
  /** Bytes of each layer by the name of their tensor type ("Q4_K"), in the order of `layers`. */
  layerTypes: GgufTypeBytes[];
  /** Bytes of `outputBytes` by tensor type. */
  outputTypes: GgufTypeBytes;
  /** Tensor type of the token embedding; null where this file does not hold it. */
  tokenEmbeddingType: string | null;
}

/** Bytes by the name of the tensor type that they are stored in. */
export type GgufTypeBytes = Record<string, number>;

/** One layer; `bytes` counts the experts too. */
export interface GgufLayerBytes {
  bytes: number;
  /** All routed experts together: one of them is this divided by `experts`. */
  expertBytes: number;
}
