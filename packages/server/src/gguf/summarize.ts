import { quantizationOfFileType } from "./file-types.js";
import { layoutOf, MAX_LAYERS } from "./layout.js";
import type { Metadata } from "./metadata.js";
import type { GgufTensor } from "./read-tensors.js";
import { grouped, type Refuse } from "./refusal.js";
import type {
  GgufAttention,
  GgufEncoder,
  GgufProjector,
  GgufRecurrence,
  GgufSummary,
} from "./summary.js";

/** A header whose structure was checked. */
export interface GgufHeader {
  readonly version: number;
  readonly fileBytes: number;
  readonly metadata: Metadata;
  readonly tensors: readonly GgufTensor[];
}

/** `enum llama_pooling_type` in llama.cpp's llama.h. */
const POOLING: ReadonlyMap<number, string> = new Map([
  [0, "none"],
  [1, "mean"],
  [2, "cls"],
  [3, "last"],
  [4, "rank"],
]);

const PROJECTOR_ARCHITECTURE = "clip";

/**
 * What a header says about the model.
 *
 * @throws SomnusError `model_unavailable` when a value has a wrong type or is out of any model's range, or
 *   when the file names no architecture or holds no weights
 */
export function summarize(header: GgufHeader, refuse: Refuse): GgufSummary {
  const { metadata, tensors } = header;
  const split = splitOf(metadata, refuse);
  const architecture = architectureOf(metadata, split, refuse);
  if (tensors.length === 0 && split === null) throw refuse("it holds no weights");
  const key = (name: string) => `${architecture}.${name}`;
  const layout = layoutOf(tensors, refuse);
  const heads = metadata.countOrList(key("attention.head_count"));
  return {
    architecture,
    type: metadata.text("general.type"),
    name: metadata.text("general.name"),
    quantization: quantizationOf(metadata, tensors),
    version: header.version,
    fileBytes: header.fileBytes,
    tensorBytes: sum(tensors.map(({ bytes }) => bytes)),
    expertBytes: sum(layout.layers.map(({ expertBytes }) => expertBytes)),
    tensorCount: tensors.length,
    parameters: sum(tensors.map(({ elements }) => elements)),
    layers: layersOf(metadata, key("block_count"), refuse),
    contextLength: metadata.count(key("context_length")),
    embeddingLength: metadata.count(key("embedding_length")),
    feedForwardLength: metadata.countOrList(key("feed_forward_length")),
    heads: sameEverywhere(heads),
    headsPerLayer: Array.isArray(heads) ? heads : null,
    kvHeads: metadata.countOrList(key("attention.head_count_kv")),
    keyLength: metadata.count(key("attention.key_length")),
    valueLength: metadata.count(key("attention.value_length")),
    experts: metadata.count(key("expert_count")),
    expertsUsed: sameEverywhere(metadata.countOrList(key("expert_used_count"))),
    expertsShared: metadata.count(key("expert_shared_count")),
    expertFeedForwardLength: metadata.countOrList(key("expert_feed_forward_length")),
    leadingDenseLayers: metadata.count(key("leading_dense_block_count")),
    predictionLayers: metadata.count(key("nextn_predict_layers")),
    slidingWindow: metadata.count(key("attention.sliding_window")) || null,
    attention: attentionOf(metadata, key),
    recurrence: recurrenceOf(metadata, key),
    vocabularySize:
      metadata.listLength("tokenizer.ggml.tokens") ?? metadata.count(key("vocab_size")),
    vocabularyMerges: metadata.listLength("tokenizer.ggml.merges"),
    chatTemplate: metadata.text("tokenizer.chat_template"),
    pooling: POOLING.get(metadata.integer(key("pooling_type")) ?? -1) ?? null,
    license: metadata.text("general.license"),
    split,
    projector: architecture === PROJECTOR_ARCHITECTURE ? projectorOf(metadata) : null,
    layout,
  };
}

function splitOf(metadata: Metadata, refuse: Refuse): GgufSummary["split"] {
  const count = metadata.count("split.count");
  if (count === null || count <= 1) return null;
  const index = metadata.count("split.no");
  if (index === null || index >= count) {
    throw refuse(`its header is damaged: part ${index} of ${grouped(count)} parts`);
  }
  return { index, count };
}

function architectureOf(metadata: Metadata, split: GgufSummary["split"], refuse: Refuse): string {
  const architecture = metadata.text("general.architecture");
  if (architecture !== null && architecture !== "") return architecture;
  if (split !== null && split.index > 0) return "";
  throw refuse("it does not say which architecture its model has");
}

function layersOf(metadata: Metadata, key: string, refuse: Refuse): number | null {
  const layers = metadata.count(key);
  if (layers !== null && layers > MAX_LAYERS) {
    throw refuse(`its header is damaged: a model of ${grouped(layers)} layers`);
  }
  return layers;
}

/** By the file's own word, else the type that holds most of the bytes. */
function quantizationOf(metadata: Metadata, tensors: readonly GgufTensor[]): string | null {
  const fileType = metadata.count("general.file_type");
  const named = fileType === null ? null : quantizationOfFileType(fileType);
  if (named !== null) return named;
  const bytesByType = new Map<string, number>();
  for (const { type, bytes } of tensors) {
    bytesByType.set(type.name, (bytesByType.get(type.name) ?? 0) + bytes);
  }
  let most: string | null = null;
  let mostBytes = 0;
  for (const [name, bytes] of bytesByType) {
    if (bytes > mostBytes) [most, mostBytes] = [name, bytes];
  }
  return most;
}

function attentionOf(metadata: Metadata, key: (name: string) => string): GgufAttention {
  const patternKey = key("attention.sliding_window_pattern");
  const slidingLayers = metadata.flagList(patternKey);
  return {
    causal: metadata.flag(key("attention.causal")),
    ropeDimensions: metadata.count(key("rope.dimension_count")),
    kvLoraRank: metadata.count(key("attention.kv_lora_rank")),
    mlaKeyLength: metadata.count(key("attention.key_length_mla")),
    mlaValueLength: metadata.count(key("attention.value_length_mla")),
    slidingKeyLength: metadata.count(key("attention.key_length_swa")),
    slidingValueLength: metadata.count(key("attention.value_length_swa")),
    slidingPeriod: slidingLayers === null ? metadata.count(patternKey) : null,
    slidingLayers,
    sharedKvLayers: metadata.count(key("attention.shared_kv_layers")),
  };
}

function recurrenceOf(metadata: Metadata, key: (name: string) => string): GgufRecurrence | null {
  const recurrence: GgufRecurrence = {
    convolutionKernel: metadata.count(key("ssm.conv_kernel")),
    innerSize: metadata.count(key("ssm.inner_size")),
    stateSize: metadata.count(key("ssm.state_size")),
    timeStepRank: metadata.count(key("ssm.time_step_rank")),
    groups: metadata.count(key("ssm.group_count")),
    wkvHeadSize: metadata.count(key("wkv.head_size")),
    tokenShifts: metadata.count(key("token_shift_count")),
    shortConvolutionCache: metadata.count(key("shortconv.l_cache")),
    kdaHeadLength: metadata.count(key("kda.head_dim")),
    fullAttentionInterval: metadata.count(key("full_attention_interval")),
    recurrentLayers: metadata.flagList(key("attention.recurrent_layers")),
  };
  return Object.values(recurrence).every((value) => value === null) ? null : recurrence;
}

function projectorOf(metadata: Metadata): GgufProjector {
  return {
    vision: encoderOf(metadata, "vision"),
    audio: encoderOf(metadata, "audio"),
    imageSize: metadata.count("clip.vision.image_size"),
    patchSize: metadata.count("clip.vision.patch_size"),
  };
}

function encoderOf(metadata: Metadata, medium: "vision" | "audio"): GgufEncoder | null {
  if (metadata.flag(`clip.has_${medium}_encoder`) !== true) return null;
  return {
    projectorType:
      metadata.text(`clip.${medium}.projector_type`) ?? metadata.text("clip.projector_type"),
    layers: metadata.count(`clip.${medium}.block_count`),
    embeddingLength: metadata.count(`clip.${medium}.embedding_length`),
    projectionLength: metadata.count(`clip.${medium}.projection_dim`),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The one value of all layers, null where they differ. */
function sameEverywhere(value: number | number[] | null): number | null {
  if (!Array.isArray(value)) return value;
  const first = value[0];
  return first !== undefined && value.every((entry) => entry === first) ? first : null;
}
