import type { CapabilityWant } from "../formats/index.js";
import { SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";

const NEEDS: Record<CapabilityWant["capability"], string> = {
  vision: "does not see images",
  audio: "does not hear audio",
  tools: "cannot call tools in this version",
};

/**
 * That a model can answer a conversation, and all that is in it.
 * @throws SomnusError invalid_request that names the field which asks for what it cannot do
 */
export function requireCapabilities(model: PoolModel, [want]: readonly CapabilityWant[]): void {
  if (!model.modalities.includes("text_generation")) {
    throw new SomnusError(
      "invalid_request",
      `${model.id} does not chat; it serves ${model.modality}.`,
      { param: "model" },
    );
  }
  if (!want) return;
  throw new SomnusError(
    "invalid_request",
    `${model.id} ${NEEDS[want.capability]} (${want.param}).`,
    { param: want.param },
  );
}
