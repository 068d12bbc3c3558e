import { sentencePieceVocabulary, withTemplate, wordPieceVocabulary } from "./vocabulary.js";
import { exactTensor, type Fill, ones, scattered, tensor, zeros } from "./weights.js";
import {
  bool,
  f32,
  type GgufSource,
  type GgufTensorSource,
  string,
  u32,
  writeGguf,
} from "./write-gguf.js";

const EMBEDDING = 128;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD_LENGTH = EMBEDDING / HEADS;
const LAYERS = 2;
const FEED_FORWARD = 256;
const CONTEXT = 2048;

const EXPERTS = 4;
const EXPERTS_USED = 2;
const EXPERT_FEED_FORWARD = 64;

const MOSTLY_F16 = 1;

/**
 * A llama model of about 1 MB that an engine loads and that answers any prompt with letters and words.
 * @param template a chat template in place of its own
 */
export async function writeTinyLlama(path: string, template?: string): Promise<void> {
  await writeGguf(path, withTemplate(tinyLlama(), template));
}

/** The same with a mixture of four experts, two a token, of the architecture qwen3moe. */
export async function writeTinyMoe(path: string): Promise<void> {
  await writeGguf(path, tinyMoe());
}

/** A bert encoder with mean pooling that an engine loads for embeddings. */
export async function writeTinyBert(path: string): Promise<void> {
  await writeGguf(path, tinyBert());
}

/** The same encoder with a head that tells how well a text fits a query. */
export async function writeTinyReranker(path: string): Promise<void> {
  const { metadata, tensors } = tinyBert();
  await writeGguf(path, {
    metadata: metadata.map(([key, value]) => [key, key === "bert.pooling_type" ? u32(4) : value]),
    tensors: [
      ...tensors,
      tensor("cls.output.weight", [EMBEDDING, 1], scattered(0.5, 9)),
      exactTensor("cls.output.bias", [1], ones),
    ],
  });
}

/** A vision projector (mmproj) that fits the tiny llama's embedding length. */
export async function writeTinyProjector(path: string): Promise<void> {
  await writeGguf(path, tinyProjector());
}

export function tinyLlama(): GgufSource {
  return decoder("llama", "Tiny Llama", [["llama.rope.dimension_count", u32(HEAD_LENGTH)]], (i) => [
    tensor(`blk.${i}.ffn_gate.weight`, [EMBEDDING, FEED_FORWARD], seeded(i, 5)),
    tensor(`blk.${i}.ffn_up.weight`, [EMBEDDING, FEED_FORWARD], seeded(i, 6)),
    tensor(`blk.${i}.ffn_down.weight`, [FEED_FORWARD, EMBEDDING], seeded(i, 7)),
  ]);
}

export function tinyMoe(): GgufSource {
  return decoder(
    "qwen3moe",
    "Tiny MoE",
    [
      ["qwen3moe.attention.key_length", u32(HEAD_LENGTH)],
      ["qwen3moe.attention.value_length", u32(HEAD_LENGTH)],
      ["qwen3moe.expert_count", u32(EXPERTS)],
      ["qwen3moe.expert_used_count", u32(EXPERTS_USED)],
      ["qwen3moe.expert_feed_forward_length", u32(EXPERT_FEED_FORWARD)],
    ],
    (i) => {
      const narrow = [EMBEDDING, EXPERT_FEED_FORWARD, EXPERTS];
      const wide = [EXPERT_FEED_FORWARD, EMBEDDING, EXPERTS];
      return [
        tensor(`blk.${i}.attn_q_norm.weight`, [HEAD_LENGTH], ones),
        tensor(`blk.${i}.attn_k_norm.weight`, [HEAD_LENGTH], ones),
        exactTensor(`blk.${i}.ffn_gate_inp.weight`, [EMBEDDING, EXPERTS], seeded(i, 5)),
        tensor(`blk.${i}.ffn_gate_exps.weight`, narrow, seeded(i, 6)),
        tensor(`blk.${i}.ffn_up_exps.weight`, narrow, seeded(i, 7)),
        tensor(`blk.${i}.ffn_down_exps.weight`, wide, seeded(i, 8)),
      ];
    },
  );
}

function decoder(
  architecture: string,
  name: string,
  ownMetadata: GgufSource["metadata"],
  ownTensors: (layer: number) => GgufTensorSource[],
): GgufSource {
  const vocabulary = sentencePieceVocabulary();
  const key = (suffix: string) => `${architecture}.${suffix}`;
  // Tokens that are not text get a score of 0, which a spoken token always exceeds: no early end.
  const head: Fill = (count) =>
    scattered(0.1, 2)(count).fill(0, 0, vocabulary.unspoken * EMBEDDING);
  return {
    metadata: [
      ["general.architecture", string(architecture)],
      ["general.type", string("model")],
      ["general.name", string(name)],
      ["general.license", string("apache-2.0")],
      ["general.file_type", u32(MOSTLY_F16)],
      [key("context_length"), u32(CONTEXT)],
      [key("embedding_length"), u32(EMBEDDING)],
      [key("block_count"), u32(LAYERS)],
      [key("feed_forward_length"), u32(FEED_FORWARD)],
      [key("attention.head_count"), u32(HEADS)],
      [key("attention.head_count_kv"), u32(KV_HEADS)],
      [key("attention.layer_norm_rms_epsilon"), f32(1e-5)],
      [key("vocab_size"), u32(vocabulary.size)],
      ...ownMetadata,
      ...vocabulary.metadata,
    ],
    tensors: [
      tensor("token_embd.weight", [EMBEDDING, vocabulary.size], scattered(1, 1)),
      tensor("output.weight", [EMBEDDING, vocabulary.size], head),
      tensor("output_norm.weight", [EMBEDDING], ones),
      ...layers((i) => [
        tensor(`blk.${i}.attn_norm.weight`, [EMBEDDING], ones),
        tensor(`blk.${i}.attn_q.weight`, [EMBEDDING, HEADS * HEAD_LENGTH], seeded(i, 1)),
        tensor(`blk.${i}.attn_k.weight`, [EMBEDDING, KV_HEADS * HEAD_LENGTH], seeded(i, 2)),
        tensor(`blk.${i}.attn_v.weight`, [EMBEDDING, KV_HEADS * HEAD_LENGTH], seeded(i, 3)),
        tensor(`blk.${i}.attn_output.weight`, [HEADS * HEAD_LENGTH, EMBEDDING], seeded(i, 4)),
        tensor(`blk.${i}.ffn_norm.weight`, [EMBEDDING], ones),
        ...ownTensors(i),
      ]),
    ],
  };
}

const BERT_CONTEXT = 512;

export function tinyBert(): GgufSource {
  const vocabulary = wordPieceVocabulary();
  return {
    metadata: [
      ["general.architecture", string("bert")],
      ["general.type", string("model")],
      ["general.name", string("Tiny BERT")],
      ["general.file_type", u32(MOSTLY_F16)],
      ["bert.context_length", u32(BERT_CONTEXT)],
      ["bert.embedding_length", u32(EMBEDDING)],
      ["bert.block_count", u32(LAYERS)],
      ["bert.feed_forward_length", u32(FEED_FORWARD)],
      ["bert.attention.head_count", u32(HEADS)],
      ["bert.attention.layer_norm_epsilon", f32(1e-12)],
      ["bert.attention.causal", bool(false)],
      ["bert.pooling_type", u32(1)],
      ...vocabulary.metadata,
    ],
    tensors: [
      tensor("token_embd.weight", [EMBEDDING, vocabulary.size], scattered(1, 1)),
      exactTensor("token_types.weight", [EMBEDDING, 2], scattered(0.1, 2)),
      exactTensor("position_embd.weight", [EMBEDDING, BERT_CONTEXT], scattered(0.1, 3)),
      ...norm("token_embd_norm"),
      ...layers((i) => [
        ...linear(`blk.${i}.attn_q`, EMBEDDING, EMBEDDING, seeded(i, 1)),
        ...linear(`blk.${i}.attn_k`, EMBEDDING, EMBEDDING, seeded(i, 2)),
        ...linear(`blk.${i}.attn_v`, EMBEDDING, EMBEDDING, seeded(i, 3)),
        ...linear(`blk.${i}.attn_output`, EMBEDDING, EMBEDDING, seeded(i, 4)),
        ...norm(`blk.${i}.attn_output_norm`),
        ...linear(`blk.${i}.ffn_up`, EMBEDDING, FEED_FORWARD, seeded(i, 5)),
        ...linear(`blk.${i}.ffn_down`, FEED_FORWARD, EMBEDDING, seeded(i, 6)),
        ...norm(`blk.${i}.layer_output_norm`),
      ]),
    ],
  };
}

const IMAGE = 32;
const PATCH = 8;
const VISION_EMBEDDING = 64;
const VISION_FEED_FORWARD = 128;

export function tinyProjector(): GgufSource {
  const perChannel = [0.5, 0.5, 0.5];
  return {
    metadata: [
      ["general.architecture", string("clip")],
      ["general.type", string("mmproj")],
      ["general.name", string("Tiny Projector")],
      ["general.file_type", u32(MOSTLY_F16)],
      ["clip.has_vision_encoder", bool(true)],
      ["clip.projector_type", string("mlp")],
      ["clip.use_gelu", bool(true)],
      ["clip.vision.image_size", u32(IMAGE)],
      ["clip.vision.patch_size", u32(PATCH)],
      ["clip.vision.embedding_length", u32(VISION_EMBEDDING)],
      ["clip.vision.feed_forward_length", u32(VISION_FEED_FORWARD)],
      ["clip.vision.projection_dim", u32(EMBEDDING)],
      ["clip.vision.block_count", u32(LAYERS)],
      ["clip.vision.attention.head_count", u32(HEADS)],
      ["clip.vision.attention.layer_norm_epsilon", f32(1e-5)],
      ["clip.vision.image_mean", { type: "array", of: "f32", values: perChannel }],
      ["clip.vision.image_std", { type: "array", of: "f32", values: perChannel }],
    ],
    tensors: [
      tensor("v.patch_embd.weight", [PATCH, PATCH, 3, VISION_EMBEDDING], scattered(0.1, 1)),
      exactTensor(
        "v.position_embd.weight",
        [VISION_EMBEDDING, (IMAGE / PATCH) ** 2],
        scattered(0.1, 2),
      ),
      ...norm("v.pre_ln", VISION_EMBEDDING),
      ...norm("v.post_ln", VISION_EMBEDDING),
      ...layers((i) => [
        ...norm(`v.blk.${i}.ln1`, VISION_EMBEDDING),
        ...linear(`v.blk.${i}.attn_q`, VISION_EMBEDDING, VISION_EMBEDDING, seeded(i, 1)),
        ...linear(`v.blk.${i}.attn_k`, VISION_EMBEDDING, VISION_EMBEDDING, seeded(i, 2)),
        ...linear(`v.blk.${i}.attn_v`, VISION_EMBEDDING, VISION_EMBEDDING, seeded(i, 3)),
        ...linear(`v.blk.${i}.attn_out`, VISION_EMBEDDING, VISION_EMBEDDING, seeded(i, 4)),
        ...norm(`v.blk.${i}.ln2`, VISION_EMBEDDING),
        ...linear(`v.blk.${i}.ffn_up`, VISION_EMBEDDING, VISION_FEED_FORWARD, seeded(i, 5)),
        ...linear(`v.blk.${i}.ffn_down`, VISION_FEED_FORWARD, VISION_EMBEDDING, seeded(i, 6)),
      ]),
      ...linear("mm.0", VISION_EMBEDDING, EMBEDDING, scattered(0.1, 3)),
      ...linear("mm.2", EMBEDDING, EMBEDDING, scattered(0.1, 4)),
    ],
  };
}

function layers(build: (layer: number) => GgufTensorSource[]): GgufTensorSource[] {
  return Array.from({ length: LAYERS }, (_, i) => build(i)).flat();
}

function seeded(layer: number, part: number): Fill {
  return scattered(0.1, 100 * (layer + 1) + part);
}

function norm(name: string, length = EMBEDDING): GgufTensorSource[] {
  return [tensor(`${name}.weight`, [length], ones), tensor(`${name}.bias`, [length], zeros)];
}

function linear(name: string, input: number, output: number, fill: Fill): GgufTensorSource[] {
  return [tensor(`${name}.weight`, [input, output], fill), tensor(`${name}.bias`, [output], zeros)];
}
