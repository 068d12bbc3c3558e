import type { Modality } from "@somnus/contract";
import type { GgufSummary } from "../../gguf/index.js";

/** What a GGUF model can be used for. */
export interface ModelUse {
  modality: Modality;
  additionalModalities: Modality[];
}

/**
 * What the header of a model, and that of its projector, say it is for. A pooling type makes one vector of a text,
 * so the model embeds; so does one whose attention looks both ways and that has no template to chat by.
 */
export function useOf(model: GgufSummary, projector: GgufSummary | null): ModelUse {
  const pools = model.pooling !== null && model.pooling !== "none";
  const looksBothWays = model.attention.causal === false && model.chatTemplate === null;
  const brings = projector?.projector;
  return {
    modality: pools || looksBothWays ? "embeddings" : "text_generation",
    additionalModalities: [
      ...(brings?.vision ? (["vision"] as const) : []),
      ...(brings?.audio ? (["speech_to_text"] as const) : []),
    ],
  };
}

/** Why a file that is in the right format is no model to serve, as the end of a sentence; null when it is one. */
export function notAModel(summary: GgufSummary): string | null {
  if (summary.type === "adapter") return "it is an adapter (LoRA), which works only on its model";
  if (summary.projector !== null || summary.type === "mmproj") {
    return "it is a projector, which works only beside its model";
  }
  if (summary.type === "imatrix" || summary.architecture === "imatrix") {
    return "it is an importance matrix, which is used when a model is quantized";
  }
  return null;
}
