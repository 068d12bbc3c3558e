import type { GgufTensor } from "./read-tensors.js";
import { grouped, quoted, type Refuse } from "./refusal.js";
import type { GgufLayout, GgufTypeBytes } from "./summary.js";

/** Twice the engine's own limit. */
export const MAX_LAYERS = 1024;

const LAYER = /^blk\.(\d+)\./;
/** Names of routed expert tensors, as llama.cpp tells them apart (LLM_FFN_EXPS_REGEX of its common/common.h). */
export const EXPERT_TENSORS = /\.ffn_(up|down|gate|gate_up)_(ch|)exps/;
/** The engine looks rows up in these on the host and never offloads them. */
const INPUT = /^(token_embd|position_embd|token_types|per_layer_token_embd)\./;
const OUTPUT = /^(output|cls|dense_)/;

/**
 * Adds up the tensors by where an engine places them.
 *
 * @throws SomnusError `model_unavailable` when a tensor's name has a layer number that no model has
 */
export function layoutOf(tensors: readonly GgufTensor[], refuse: Refuse): GgufLayout {
  const layers: { bytes: number; expertBytes: number }[] = [];
  let inputBytes = 0;
  let tokenEmbeddingBytes = 0;
  let outputBytes = 0;
  let otherBytes = 0;
  let hasOutputWeight = false;
  const layerTypes: GgufTypeBytes[] = [];
  const outputTypes: GgufTypeBytes = {};
  let tokenEmbeddingType: string | null = null;
  const add = (types: GgufTypeBytes, type: string, bytes: number) => {
    types[type] = (types[type] ?? 0) + bytes;
  };
  for (const { name, bytes, type } of tensors) {
    const layer = LAYER.exec(name);
    if (layer) {
      const index = Number(layer[1]);
      if (index >= MAX_LAYERS) {
        throw refuse(
          `its header is damaged: tensor ${quoted(name)} belongs to layer ${grouped(index)}`,
        );
      }
      while (layers.length <= index) {
        layers.push({ bytes: 0, expertBytes: 0 });
        layerTypes.push({});
      }
      const entry = layers[index]!;
      entry.bytes += bytes;
      add(layerTypes[index]!, type.name, bytes);
      if (EXPERT_TENSORS.test(name)) entry.expertBytes += bytes;
    } else if (INPUT.test(name)) {
      inputBytes += bytes;
      if (name === "token_embd.weight") {
        tokenEmbeddingBytes += bytes;
        tokenEmbeddingType = type.name;
      }
    } else if (OUTPUT.test(name)) {
      outputBytes += bytes;
      add(outputTypes, type.name, bytes);
      if (name === "output.weight") hasOutputWeight = true;
    } else {
      otherBytes += bytes;
    }
  }
  return {
    layers,
    inputBytes,
    tokenEmbeddingBytes,
    outputBytes,
    otherBytes,
    hasOutputWeight,
    layerTypes,
    outputTypes,
    tokenEmbeddingType,
  };
}
