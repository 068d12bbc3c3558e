import type { InputFiles } from "../converter.js";
import { shown } from "../refusal.js";
import { readSettings, type Settings } from "../settings-file.js";

export const CONFIG_FILE = "config.json";

/** The measures of a BERT encoder. */
export interface EncoderConfig {
  /** Elements of a token's vector. */
  readonly embedding: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
  /** Longest input in tokens: rows of the position table. */
  readonly context: number;
  /** Rows of the token table. */
  readonly vocabulary: number;
  /** Rows of the table of token types. */
  readonly tokenTypes: number;
  readonly normEpsilon: number;
}

/** Far above what any BERT has, and small enough that no product of two is out of range. */
const MOST = 65_536;
const MOST_LAYERS = 512;
const MOST_TOKENS = 1_000_000;

/** What an encoder may say of itself and still be the one that llama.cpp computes under the name bert. */
const PLAIN: readonly (readonly [string, readonly unknown[], string])[] = [
  ["model_type", ["bert"], "only plain BERT encoders are converted"],
  ["hidden_act", ["gelu"], "only the activation gelu is computed by the engine"],
  ["position_embedding_type", ["absolute", undefined], "only absolute positions are supported"],
  ["is_decoder", [false, undefined], "only encoders are supported"],
  ["add_cross_attention", [false, undefined], "only encoders are supported"],
  ["quantization_config", [undefined], "only weights that are not quantized yet are supported"],
];

/**
 * Reads config.json.
 * @throws SomnusError `model_unavailable` naming what is out of range or no plain BERT
 */
export async function readEncoderConfig(files: InputFiles): Promise<EncoderConfig> {
  const settings = await readSettings(files, CONFIG_FILE);
  for (const [key, plain, rule] of PLAIN) {
    const value = settings.value(key);
    if (!plain.includes(value)) {
      throw settings.refuse(`has ${key} = ${shown(value)}, which is not supported: ${rule}`);
    }
  }
  const config: EncoderConfig = {
    embedding: settings.integer("hidden_size", 1, MOST),
    layers: settings.integer("num_hidden_layers", 1, MOST_LAYERS),
    heads: settings.integer("num_attention_heads", 1, MOST),
    feedForward: settings.integer("intermediate_size", 1, MOST),
    context: settings.integer("max_position_embeddings", 1, MOST),
    vocabulary: settings.integer("vocab_size", 1, MOST_TOKENS),
    tokenTypes: settings.integer("type_vocab_size", 1, MOST),
    normEpsilon: settings.fraction("layer_norm_eps"),
  };
  requireConsistent(config, settings);
  return config;
}

function requireConsistent({ embedding, heads }: EncoderConfig, settings: Settings): void {
  if (embedding % heads !== 0) {
    throw settings.refuse(
      `has ${heads} attention heads, which do not divide ${embedding} elements`,
    );
  }
  const factorized = settings.value("embedding_size");
  if (factorized !== undefined && factorized !== embedding) {
    throw settings.refuse(
      `has embedding_size = ${shown(factorized)}, which is not supported: it must be hidden_size`,
    );
  }
}
