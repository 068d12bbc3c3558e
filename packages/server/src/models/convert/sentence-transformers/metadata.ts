import type { About } from "../converter.js";
import {
  bool,
  type ElementType,
  f32,
  type GgufValue,
  i32s,
  string,
  strings,
  u32,
} from "../gguf-writer/index.js";
import type { EncoderConfig } from "./encoder-config.js";
import { POOLINGS, type Pooling } from "./pooling.js";
import type { Tokenizer } from "./tokenizer.js";

/** Version of the layout of quantized blocks: `GGML_QNT_VERSION` in llama.cpp's ggml.h. */
const QUANTIZATION_VERSION = 2;

/** All that the output says of its model; the keys are those of src/llama-arch.cpp of llama.cpp. */
export function metadataOf(model: {
  config: EncoderConfig;
  pooling: Pooling;
  tokenizer: Tokenizer;
  elements: ElementType;
  about: About;
}): [string, GgufValue][] {
  const { config, tokenizer, about } = model;
  const { ids } = tokenizer;
  return [
    ["general.architecture", string("bert")],
    ["general.type", string("model")],
    ...given("general.name", about.name),
    ...given("general.license", about.license),
    ...given("general.source.url", about.url),
    ["general.file_type", u32(model.elements.fileType)],
    ["general.quantization_version", u32(QUANTIZATION_VERSION)],
    // The engine demands as many rows of the position table.
    ["bert.context_length", u32(config.context)],
    ["bert.embedding_length", u32(config.embedding)],
    ["bert.block_count", u32(config.layers)],
    ["bert.feed_forward_length", u32(config.feedForward)],
    ["bert.vocab_size", u32(config.vocabulary)],
    ["bert.attention.head_count", u32(config.heads)],
    ["bert.attention.layer_norm_epsilon", f32(config.normEpsilon)],
    ["bert.attention.causal", bool(false)],
    ["bert.pooling_type", u32(POOLINGS[model.pooling])],
    ["tokenizer.ggml.model", string("bert")],
    ["tokenizer.ggml.pre", string("default")],
    ["tokenizer.ggml.tokens", strings(tokenizer.tokens)],
    ["tokenizer.ggml.token_type", i32s(tokenizer.types)],
    ["tokenizer.ggml.token_type_count", u32(config.tokenTypes)],
    ["tokenizer.ggml.bos_token_id", u32(ids.cls)],
    ["tokenizer.ggml.eos_token_id", u32(ids.separator)],
    ["tokenizer.ggml.unknown_token_id", u32(ids.unknown)],
    // The engine spells it so.
    ["tokenizer.ggml.seperator_token_id", u32(ids.separator)],
    ["tokenizer.ggml.padding_token_id", u32(ids.padding)],
    ["tokenizer.ggml.cls_token_id", u32(ids.cls)],
    ...(ids.mask === null
      ? []
      : ([["tokenizer.ggml.mask_token_id", u32(ids.mask)]] as [string, GgufValue][])),
    ["tokenizer.ggml.add_bos_token", bool(true)],
    ["tokenizer.ggml.add_sep_token", bool(true)],
    ["tokenizer.ggml.normalizer.lowercase", bool(tokenizer.lowercase)],
    ["tokenizer.ggml.normalizer.strip_accents", bool(tokenizer.stripAccents)],
  ];
}

function given(key: string, value: string | undefined): [string, GgufValue][] {
  return value === undefined ? [] : [[key, string(value)]];
}
