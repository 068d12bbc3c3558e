import { randomFrom } from "../../../../test/gguf/index.js";
import { encodeSafetensors, floats, type TensorSource } from "./safetensors.js";

/** The content of a model's folder by file name; a value that is not bytes is stored as JSON. */
export type FolderContent = Record<string, unknown>;

const EMBEDDING = 32;
const FEED_FORWARD = 64;
const LAYERS = 1;
const CONTEXT = 16;
const TOKEN_TYPES = 2;

const WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b", "sea", "##s"];

/** A sentence-transformers model of about 50 kB on a BERT encoder of one layer. `rows` is the size of its token table. */
export function tinyBert(rows: number = WORDS.length): FolderContent {
  const words = Array.from({ length: rows }, (_, id) => WORDS[id] ?? `word${id}`);
  return {
    "config.json": {
      model_type: "bert",
      hidden_act: "gelu",
      hidden_size: EMBEDDING,
      num_hidden_layers: LAYERS,
      num_attention_heads: 2,
      intermediate_size: FEED_FORWARD,
      max_position_embeddings: CONTEXT,
      type_vocab_size: TOKEN_TYPES,
      vocab_size: rows,
      layer_norm_eps: 1e-12,
    },
    "modules.json": ["Transformer", "Pooling", "Normalize"].map((kind, idx) => ({
      idx,
      name: String(idx),
      path: idx === 0 ? "" : `${idx}_${kind}`,
      type: `sentence_transformers.models.${kind}`,
    })),
    "1_Pooling/config.json": {
      word_embedding_dimension: EMBEDDING,
      pooling_mode_cls_token: false,
      pooling_mode_mean_tokens: true,
      pooling_mode_max_tokens: false,
    },
    "tokenizer_config.json": { do_lower_case: true, tokenizer_class: "BertTokenizer" },
    "tokenizer.json": {
      normalizer: { type: "BertNormalizer", lowercase: true, strip_accents: null },
      model: {
        type: "WordPiece",
        continuing_subword_prefix: "##",
        vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      },
    },
    "vocab.txt": Buffer.from(`${words.join("\n")}\n`),
    "model.safetensors": encodeSafetensors(tinyBertTensors(rows)),
  };
}

/** The tensors of the tiny model, with the buffer and the pooler that real checkpoints have as well. */
export function tinyBertTensors(rows: number = WORDS.length): TensorSource[] {
  const random = randomFrom(1);
  const make = (name: string, ...shape: number[]): TensorSource => {
    const count = shape.reduce((product, size) => product * size, 1);
    return floats(
      name,
      shape,
      Float32Array.from({ length: count }, () => random() - 0.5),
    );
  };
  const both = (name: string, to: number, from?: number) => [
    from === undefined ? make(`${name}.weight`, to) : make(`${name}.weight`, to, from),
    make(`${name}.bias`, to),
  ];
  const layer = (i: number) => {
    const at = `encoder.layer.${i}`;
    return [
      ...both(`${at}.attention.self.query`, EMBEDDING, EMBEDDING),
      ...both(`${at}.attention.self.key`, EMBEDDING, EMBEDDING),
      ...both(`${at}.attention.self.value`, EMBEDDING, EMBEDDING),
      ...both(`${at}.attention.output.dense`, EMBEDDING, EMBEDDING),
      ...both(`${at}.attention.output.LayerNorm`, EMBEDDING),
      ...both(`${at}.intermediate.dense`, FEED_FORWARD, EMBEDDING),
      ...both(`${at}.output.dense`, EMBEDDING, FEED_FORWARD),
      ...both(`${at}.output.LayerNorm`, EMBEDDING),
    ];
  };
  return [
    {
      name: "embeddings.position_ids",
      type: "I64",
      shape: [1, CONTEXT],
      data: Buffer.alloc(8 * CONTEXT),
    },
    make("embeddings.word_embeddings.weight", rows, EMBEDDING),
    make("embeddings.position_embeddings.weight", CONTEXT, EMBEDDING),
    make("embeddings.token_type_embeddings.weight", TOKEN_TYPES, EMBEDDING),
    ...both("embeddings.LayerNorm", EMBEDDING),
    ...Array.from({ length: LAYERS }, (_, i) => layer(i)).flat(),
    ...both("pooler.dense", EMBEDDING, EMBEDDING),
  ];
}
