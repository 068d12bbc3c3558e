import { type ElementType, elementType, type GgufTensor } from "../gguf-writer/index.js";
import { quoted, refusalOf } from "../refusal.js";
import { isReadable, type Weights } from "../safetensors/index.js";
import type { EncoderConfig } from "./encoder-config.js";

/** One tensor of the output and where it comes from. */
interface Wanted {
  readonly name: string;
  /** Its name in the checkpoint, without the prefix that some checkpoints have. */
  readonly source: string;
  /** Slowest dimension first, as the checkpoint has it. */
  readonly shape: readonly number[];
  readonly type: ElementType;
}

/** Checkpoints with a head for training keep the encoder under this name. */
const ENCODER_PREFIX = "bert.";

/** What a checkpoint holds beside the encoder and an engine does not need: buffers, pooler, training heads. */
const NOT_NEEDED =
  /^(embeddings\.(position_ids|token_type_ids)|pooler\.dense\.(weight|bias)|cls\.(predictions|seq_relationship)\..+)$/;

/**
 * The tensors of the output, in the order in which they are stored.
 * @param type of the matrices; vectors, positions and token types are added to 32-bit values and stay such
 * @throws SomnusError `model_unavailable` when the checkpoint lacks a tensor, has one of another shape or
 *   type, or one that an engine would leave out of the computation
 */
export function tensorsOf(
  config: EncoderConfig,
  type: ElementType,
  weights: Weights,
): GgufTensor[] {
  const refuse = refusalOf("model.safetensors");
  const prefix = weights.tensors.has(`${ENCODER_PREFIX}embeddings.word_embeddings.weight`)
    ? ENCODER_PREFIX
    : "";
  const used = new Set<string>();
  const tensors = wantedTensors(config, type).map(({ name, source, shape, type }): GgufTensor => {
    const stored = prefix + source;
    const found = weights.tensors.get(stored);
    if (!found) throw refuse(`lacks tensor ${quoted(stored)}, which config.json asks for`);
    if (found.shape.join() !== shape.join()) {
      throw refuse(
        `holds tensor ${quoted(stored)} of shape [${found.shape.join(", ")}], config.json says [${shape.join(", ")}]`,
      );
    }
    if (!isReadable(found.type)) {
      throw refuse(`holds tensor ${quoted(stored)} of type ${found.type}, not F32, F16 or BF16`);
    }
    used.add(stored);
    const dimensions = [...shape].reverse();
    if (dimensions[0]! % type.blockElements !== 0) {
      throw refuse(
        `cannot become ${type.name}: rows of ${quoted(stored)} have ${dimensions[0]} elements, not a multiple of ${type.blockElements}; take the type F16`,
      );
    }
    return { name, dimensions, type, values: (signal) => weights.values(stored, signal) };
  });
  for (const name of weights.tensors.keys()) {
    const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    if (used.has(name) || NOT_NEEDED.test(own)) continue;
    throw refuse(`holds tensor ${quoted(name)}, which is not supported: plain BERT has none such`);
  }
  return tensors;
}

function wantedTensors(config: EncoderConfig, type: ElementType): Wanted[] {
  const { embedding, feedForward } = config;
  const exact = elementType("F32");
  const norm = (name: string, source: string): Wanted[] =>
    ["weight", "bias"].map((part) => ({
      name: `${name}.${part}`,
      source: `${source}.${part}`,
      shape: [embedding],
      type: exact,
    }));
  const linear = (name: string, source: string, to: number, from: number): Wanted[] => [
    { name: `${name}.weight`, source: `${source}.weight`, shape: [to, from], type },
    { name: `${name}.bias`, source: `${source}.bias`, shape: [to], type: exact },
  ];
  const table = (name: string, source: string, rows: number, as: ElementType): Wanted => ({
    name: `${name}.weight`,
    source: `embeddings.${source}.weight`,
    shape: [rows, embedding],
    type: as,
  });
  const block = (i: number): Wanted[] => {
    const to = `blk.${i}`;
    const from = `encoder.layer.${i}`;
    return [
      ...linear(`${to}.attn_q`, `${from}.attention.self.query`, embedding, embedding),
      ...linear(`${to}.attn_k`, `${from}.attention.self.key`, embedding, embedding),
      ...linear(`${to}.attn_v`, `${from}.attention.self.value`, embedding, embedding),
      ...linear(`${to}.attn_output`, `${from}.attention.output.dense`, embedding, embedding),
      ...norm(`${to}.attn_output_norm`, `${from}.attention.output.LayerNorm`),
      ...linear(`${to}.ffn_up`, `${from}.intermediate.dense`, feedForward, embedding),
      ...linear(`${to}.ffn_down`, `${from}.output.dense`, embedding, feedForward),
      ...norm(`${to}.layer_output_norm`, `${from}.output.LayerNorm`),
    ];
  };
  return [
    table("token_embd", "word_embeddings", config.vocabulary, type),
    table("position_embd", "position_embeddings", config.context, exact),
    table("token_types", "token_type_embeddings", config.tokenTypes, exact),
    ...norm("token_embd_norm", "embeddings.LayerNorm"),
    ...Array.from({ length: config.layers }, (_, i) => block(i)).flat(),
  ];
}
