import { sentencePieceVocabulary } from "./vocabulary.js";
import { type Fill, ones, tensor, zeros } from "./weights.js";
import { f32, type GgufSource, string, u32 } from "./write-gguf.js";

/** What a model answers about a medium: the one thing or the other, as the last one was, or that there is none. */
export interface Answers {
  one: string;
  other: string;
  none: string;
}

/** Length of the model's states, which its projector makes. */
export const STATE = 32;
/** Places of a state that a projector fills where its medium is the one thing, or the other. */
export const ONE = 1;
export const OTHER = 2;

const TEXT = 0;
const ANSWERED = 3;
const FEED_FORWARD = 32;
const CONTEXT = 2048;
const EOS = 2;

/**
 * With the rotation of this pair of a head's numbers, about 0.018 a token, two equal vectors agree the less the
 * further they are apart: the model attends most to what came last.
 */
const SLOW_PAIR = 14;
const ATTENTION = 7.5;

/** Row, column, value; all else is zero. */
export function sparse(
  columns: number,
  entries: readonly (readonly [number, number, number])[],
): Fill {
  return (count) => {
    const values = new Float32Array(count);
    for (const [row, column, value] of entries) values[row * columns + column] = value;
    return values;
  };
}

/**
 * A llama model of a few kilobytes that tells what its projector showed it last, in one word, and stops. Its states are
 * read as they are, whatever their length.
 */
export function askedModel(answers: Answers): GgufSource {
  const vocabulary = sentencePieceVocabulary(Object.values(answers));
  const id = (word: string) => vocabulary.words.get(word)!;
  const words = Object.values(answers).map(id);
  const embedding: Fill = (count) => {
    const values = new Float32Array(count);
    for (let token = 0; token < vocabulary.size; token++) values[token * STATE + TEXT] = 1;
    for (const token of words) values[token * STATE + ANSWERED] = 50;
    return values;
  };
  const constant = sparse(STATE, [[0, SLOW_PAIR, ATTENTION]]);
  const passed = [TEXT, ONE, OTHER].map((at) => [at, at, 1] as const);
  const square = [STATE, STATE];
  return {
    metadata: [
      ["general.architecture", string("llama")],
      ["general.type", string("model")],
      ["general.name", string("Tiny Asked Model")],
      ["general.file_type", u32(1)],
      ["llama.context_length", u32(CONTEXT)],
      ["llama.embedding_length", u32(STATE)],
      ["llama.block_count", u32(1)],
      ["llama.feed_forward_length", u32(FEED_FORWARD)],
      ["llama.attention.head_count", u32(1)],
      ["llama.attention.head_count_kv", u32(1)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
      ["llama.rope.dimension_count", u32(STATE)],
      ["llama.vocab_size", u32(vocabulary.size)],
      ...vocabulary.metadata,
    ],
    tensors: [
      tensor("token_embd.weight", [STATE, vocabulary.size], embedding),
      tensor(
        "output.weight",
        [STATE, vocabulary.size],
        sparse(STATE, [
          [id(answers.one), ONE, 10],
          [id(answers.other), OTHER, 10],
          [id(answers.none), TEXT, 0.01],
          [EOS, ANSWERED, 10],
        ]),
      ),
      tensor("output_norm.weight", [STATE], ones),
      tensor("blk.0.attn_norm.weight", [STATE], ones),
      tensor("blk.0.attn_q.weight", square, zeros),
      tensor("blk.0.attn_q.bias", [STATE], constant),
      tensor("blk.0.attn_k.weight", square, zeros),
      tensor("blk.0.attn_k.bias", [STATE], constant),
      tensor("blk.0.attn_v.weight", square, sparse(STATE, passed)),
      tensor("blk.0.attn_output.weight", square, sparse(STATE, passed)),
      tensor("blk.0.ffn_norm.weight", [STATE], ones),
      tensor("blk.0.ffn_gate.weight", [STATE, FEED_FORWARD], zeros),
      tensor("blk.0.ffn_up.weight", [STATE, FEED_FORWARD], zeros),
      tensor("blk.0.ffn_down.weight", [FEED_FORWARD, STATE], zeros),
    ],
  };
}
