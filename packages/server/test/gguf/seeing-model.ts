import { sentencePieceVocabulary } from "./vocabulary.js";
import { exactTensor, type Fill, ones, tensor, zeros } from "./weights.js";
import { bool, f32, type GgufSource, string, u32, writeGguf } from "./write-gguf.js";

/** What the seeing model answers with: the colour of the last picture, or that there is none. */
export const SEEN = { red: "red", blue: "blue", none: "nothing" } as const;

const WIDTH = 32;
const FEED_FORWARD = 32;
const CONTEXT = 2048;
const EOS = 2;

/** What each place of a state stands for. */
const TEXT = 0;
const RED = 1;
const BLUE = 2;
const ANSWERED = 3;

/**
 * With the rotation of this pair of a head's numbers, about 0.018 a token, two equal vectors agree the less the
 * further they are apart: the model attends most to what came last.
 */
const SLOW_PAIR = 14;
const ATTENTION = 7.5;

const IMAGE = 32;
const PATCH = 8;
const VISION_WIDTH = 64;
/** Tokens of one picture. */
export const PICTURE_TOKENS = (IMAGE / PATCH) ** 2;

/**
 * A llama model and a projector of a few kilobytes that see: asked about pictures that are red or blue, the model
 * answers with the colour of the last one and stops; without one it says "nothing".
 */
export async function writeSeeingModel(weightsPath: string, projectorPath: string): Promise<void> {
  await writeGguf(weightsPath, textModel());
  await writeGguf(projectorPath, projector());
}

/** Row, column, value; all else is zero. */
function sparse(columns: number, entries: readonly (readonly [number, number, number])[]): Fill {
  return (count) => {
    const values = new Float32Array(count);
    for (const [row, column, value] of entries) values[row * columns + column] = value;
    return values;
  };
}

function textModel(): GgufSource {
  const vocabulary = sentencePieceVocabulary(Object.values(SEEN));
  const id = (word: string) => vocabulary.words.get(word)!;
  const answers = Object.values(SEEN).map(id);
  const embedding: Fill = (count) => {
    const values = new Float32Array(count);
    for (let token = 0; token < vocabulary.size; token++) values[token * WIDTH + TEXT] = 1;
    for (const token of answers) values[token * WIDTH + ANSWERED] = 50;
    return values;
  };
  const constant = sparse(WIDTH, [[0, SLOW_PAIR, ATTENTION]]);
  const passed = [TEXT, RED, BLUE].map((at) => [at, at, 1] as const);
  const square = [WIDTH, WIDTH];
  return {
    metadata: [
      ["general.architecture", string("llama")],
      ["general.type", string("model")],
      ["general.name", string("Tiny Seeing Model")],
      ["general.file_type", u32(1)],
      ["llama.context_length", u32(CONTEXT)],
      ["llama.embedding_length", u32(WIDTH)],
      ["llama.block_count", u32(1)],
      ["llama.feed_forward_length", u32(FEED_FORWARD)],
      ["llama.attention.head_count", u32(1)],
      ["llama.attention.head_count_kv", u32(1)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
      ["llama.rope.dimension_count", u32(WIDTH)],
      ["llama.vocab_size", u32(vocabulary.size)],
      ...vocabulary.metadata,
    ],
    tensors: [
      tensor("token_embd.weight", [WIDTH, vocabulary.size], embedding),
      tensor(
        "output.weight",
        [WIDTH, vocabulary.size],
        sparse(WIDTH, [
          [id(SEEN.red), RED, 10],
          [id(SEEN.blue), BLUE, 10],
          [id(SEEN.none), TEXT, 0.01],
          [EOS, ANSWERED, 10],
        ]),
      ),
      tensor("output_norm.weight", [WIDTH], ones),
      tensor("blk.0.attn_norm.weight", [WIDTH], ones),
      tensor("blk.0.attn_q.weight", square, zeros),
      tensor("blk.0.attn_q.bias", [WIDTH], constant),
      tensor("blk.0.attn_k.weight", square, zeros),
      tensor("blk.0.attn_k.bias", [WIDTH], constant),
      tensor("blk.0.attn_v.weight", square, sparse(WIDTH, passed)),
      tensor("blk.0.attn_output.weight", square, sparse(WIDTH, passed)),
      tensor("blk.0.ffn_norm.weight", [WIDTH], ones),
      tensor("blk.0.ffn_gate.weight", [WIDTH, FEED_FORWARD], zeros),
      tensor("blk.0.ffn_up.weight", [WIDTH, FEED_FORWARD], zeros),
      tensor("blk.0.ffn_down.weight", [FEED_FORWARD, WIDTH], zeros),
    ],
  };
}

/** The mean of a patch's red and of its blue, each in its own place; one layer, which the engine leaves out. */
function projector(): GgufSource {
  const perChannel = [0.5, 0.5, 0.5];
  const area = PATCH * PATCH;
  const patches: Fill = (count) => {
    const values = new Float32Array(count);
    values.fill(1 / area, 0, area);
    values.fill(1 / area, (3 + 2) * area, (3 + 3) * area);
    return values;
  };
  const layer = (name: string, input: number, output: number) => [
    tensor(`v.blk.0.${name}.weight`, [input, output], zeros),
    tensor(`v.blk.0.${name}.bias`, [output], zeros),
  ];
  const norm = (name: string) => [
    tensor(`v.blk.0.${name}.weight`, [VISION_WIDTH], ones),
    tensor(`v.blk.0.${name}.bias`, [VISION_WIDTH], zeros),
  ];
  return {
    metadata: [
      ["general.architecture", string("clip")],
      ["general.type", string("mmproj")],
      ["general.name", string("Tiny Eye")],
      ["general.file_type", u32(1)],
      ["clip.has_vision_encoder", bool(true)],
      ["clip.projector_type", string("mlp")],
      ["clip.use_gelu", bool(true)],
      ["clip.vision.image_size", u32(IMAGE)],
      ["clip.vision.patch_size", u32(PATCH)],
      ["clip.vision.embedding_length", u32(VISION_WIDTH)],
      ["clip.vision.feed_forward_length", u32(VISION_WIDTH)],
      ["clip.vision.projection_dim", u32(WIDTH)],
      ["clip.vision.block_count", u32(1)],
      ["clip.vision.attention.head_count", u32(4)],
      ["clip.vision.attention.layer_norm_epsilon", f32(1e-5)],
      ["clip.vision.image_mean", { type: "array", of: "f32", values: perChannel }],
      ["clip.vision.image_std", { type: "array", of: "f32", values: perChannel }],
    ],
    tensors: [
      tensor("v.patch_embd.weight", [PATCH, PATCH, 3, VISION_WIDTH], patches),
      exactTensor("v.position_embd.weight", [VISION_WIDTH, PICTURE_TOKENS], zeros),
      ...norm("ln1"),
      ...layer("attn_q", VISION_WIDTH, VISION_WIDTH),
      ...layer("attn_k", VISION_WIDTH, VISION_WIDTH),
      ...layer("attn_v", VISION_WIDTH, VISION_WIDTH),
      ...layer("attn_out", VISION_WIDTH, VISION_WIDTH),
      ...norm("ln2"),
      ...layer("ffn_up", VISION_WIDTH, VISION_WIDTH),
      ...layer("ffn_down", VISION_WIDTH, VISION_WIDTH),
      // What is above zero is large enough to pass the activation as it is; what is below ends there.
      tensor(
        "mm.0.weight",
        [VISION_WIDTH, WIDTH],
        sparse(VISION_WIDTH, [
          [RED, 0, 4],
          [BLUE, 1, 4],
        ]),
      ),
      tensor("mm.0.bias", [WIDTH], zeros),
      tensor(
        "mm.2.weight",
        [WIDTH, WIDTH],
        sparse(WIDTH, [
          [RED, RED, 1],
          [BLUE, BLUE, 1],
        ]),
      ),
      tensor("mm.2.bias", [WIDTH], zeros),
    ],
  };
}
