import { type Answers, askedModel, ONE, OTHER, STATE, sparse } from "./asked-model.js";
import { exactTensor, type Fill, ones, tensor, zeros } from "./weights.js";
import { bool, f32, type GgufSource, string, u32, writeGguf } from "./write-gguf.js";

/** What the hearing model answers with: how the last tone sounded, or that there was none. */
export const HEARD = { low: "low", high: "high", none: "nothing" } as const;

const ANSWERS: Answers = { one: HEARD.low, other: HEARD.high, none: HEARD.none };

/** Bands of the spectrum that the encoder gets; on the mel scale, up to 8 kHz. */
const BANDS = 80;
const WIDTH = 16;
/** Places of the encoder for half a minute, which is what the engine shows it at once. */
const PLACES = 1_500;
/** The engine makes one of each two; so many of those become one token, for two seconds. */
const STACK = 50;
/** What the engine writes before a sound for this kind of projector; letter by letter here, after a space. */
const MARK = "[BEGIN_AUDIO]";
/** Tokens that any sound up to half a minute takes. */
export const SOUND_TOKENS = PLACES / 2 / STACK + MARK.length + 1;

/** Tones that the model tells apart, Hz, and the bands around them. */
export const TONES = { low: 300, high: 4_000 } as const;
const LOW_BANDS = [7, 8] as const;
const HIGH_BANDS = [62, 63] as const;

/** How loud a band has to be: the loudest one has a little over 1, and what is 80 dB below it, two less. */
const LOUD = 0.9;
const STEEP = 100;

/**
 * A llama model and a projector of a few kilobytes that hear: asked about tones of `TONES`, the model answers how the
 * last one sounded and stops; without one it says "nothing".
 */
export async function writeHearingModel(weightsPath: string, projectorPath: string): Promise<void> {
  await writeGguf(weightsPath, askedModel(ANSWERS));
  await writeGguf(projectorPath, projector());
}

/** Whether the bands of a tone are loud, each in its own place; one layer that adds nothing. */
function projector(): GgufSource {
  const layer = (name: string, input: number, output: number, hasBias = true) => [
    tensor(`a.blk.0.${name}.weight`, [input, output], zeros),
    ...(hasBias ? [tensor(`a.blk.0.${name}.bias`, [output], zeros)] : []),
  ];
  const norm = (name: string) => [
    tensor(`a.blk.0.${name}.weight`, [WIDTH], ones),
    tensor(`a.blk.0.${name}.bias`, [WIDTH], zeros),
  ];
  // What is not loud enough ends in the activation.
  const quiet: Fill = (count) => new Float32Array(count).fill(-STEEP * LOUD);
  return {
    metadata: [
      ["general.architecture", string("clip")],
      ["general.type", string("mmproj")],
      ["general.name", string("Tiny Ear")],
      ["general.file_type", u32(1)],
      ["clip.has_audio_encoder", bool(true)],
      ["clip.projector_type", string("voxtral")],
      ["clip.audio.num_mel_bins", u32(BANDS)],
      ["clip.audio.embedding_length", u32(WIDTH)],
      ["clip.audio.feed_forward_length", u32(WIDTH)],
      ["clip.audio.projection_dim", u32(STATE)],
      ["clip.audio.block_count", u32(1)],
      ["clip.audio.attention.head_count", u32(2)],
      ["clip.audio.attention.layer_norm_epsilon", f32(1e-5)],
      ["clip.audio.projector.stack_factor", u32(STACK)],
    ],
    tensors: [
      tensor("a.conv1d.1.weight", [3, BANDS, WIDTH], bands),
      exactTensor("a.conv1d.1.bias", [1, WIDTH], quiet),
      tensor("a.conv1d.2.weight", [3, WIDTH, WIDTH], middleOnly),
      exactTensor("a.conv1d.2.bias", [1, WIDTH], zeros),
      exactTensor("a.position_embd.weight", [WIDTH, PLACES], zeros),
      ...norm("ln1"),
      ...layer("attn_q", WIDTH, WIDTH),
      ...layer("attn_k", WIDTH, WIDTH, false),
      ...layer("attn_v", WIDTH, WIDTH),
      ...layer("attn_out", WIDTH, WIDTH),
      ...norm("ln2"),
      ...layer("ffn_up", WIDTH, WIDTH),
      ...layer("ffn_down", WIDTH, WIDTH),
      tensor("mm.a.mlp.1.weight", [WIDTH * STACK, WIDTH], onAverage),
      tensor(
        "mm.a.mlp.2.weight",
        [WIDTH, STATE],
        sparse(WIDTH, [
          [ONE, 0, 1],
          [OTHER, 1, 1],
        ]),
      ),
    ],
  };
}

/** Each tone's bands, added up, of the middle one of three frames. */
function bands(count: number): Float32Array {
  const values = new Float32Array(count);
  for (const [place, [first, last]] of [LOW_BANDS, HIGH_BANDS].entries()) {
    for (let band = first; band <= last; band++) {
      values[(place * BANDS + band) * 3 + 1] = STEEP / (last - first + 1);
    }
  }
  return values;
}

function middleOnly(count: number): Float32Array {
  const values = new Float32Array(count);
  for (let place = 0; place < WIDTH; place++) values[(place * WIDTH + place) * 3 + 1] = 1;
  return values;
}

function onAverage(count: number): Float32Array {
  const values = new Float32Array(count);
  for (const place of [0, 1]) {
    for (let frame = 0; frame < STACK; frame++) {
      values[place * WIDTH * STACK + frame * WIDTH + place] = 1 / STACK;
    }
  }
  return values;
}
