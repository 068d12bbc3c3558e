import { type Answers, askedModel, ONE, OTHER, STATE, sparse } from "./asked-model.js";
import { withTemplate } from "./vocabulary.js";
import { exactTensor, type Fill, ones, tensor, zeros } from "./weights.js";
import { bool, f32, type GgufSource, string, u32, writeGguf } from "./write-gguf.js";

/** What the seeing model answers with: the colour of the last picture, or that there is none. */
export const SEEN = { red: "red", blue: "blue", none: "nothing" } as const;

const ANSWERS: Answers = { one: SEEN.red, other: SEEN.blue, none: SEEN.none };

const IMAGE = 32;
const PATCH = 8;
const VISION_WIDTH = 64;
/** Tokens of one picture. */
export const PICTURE_TOKENS = (IMAGE / PATCH) ** 2;

/**
 * A llama model and a projector of a few kilobytes that see: asked about pictures that are red or blue, the model
 * answers with the colour of the last one and stops; without one it says "nothing".
 * @param template a chat template in place of its own
 */
export async function writeSeeingModel(
  weightsPath: string,
  projectorPath: string,
  template?: string,
): Promise<void> {
  await writeGguf(weightsPath, withTemplate(askedModel(ANSWERS), template));
  await writeGguf(projectorPath, projector());
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
      ["clip.vision.projection_dim", u32(STATE)],
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
        [VISION_WIDTH, STATE],
        sparse(VISION_WIDTH, [
          [ONE, 0, 4],
          [OTHER, 1, 4],
        ]),
      ),
      tensor("mm.0.bias", [STATE], zeros),
      tensor(
        "mm.2.weight",
        [STATE, STATE],
        sparse(STATE, [
          [ONE, ONE, 1],
          [OTHER, OTHER, 1],
        ]),
      ),
      tensor("mm.2.bias", [STATE], zeros),
    ],
  };
}
