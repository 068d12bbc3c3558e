import type { CapabilityWant, GenerationRequest } from "../formats/index.js";
import { SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import type { Lease } from "../scheduling/index.js";

/** Whether a model can do it, and what to say when it cannot. */
const NEEDS: Record<
  CapabilityWant["capability"],
  { has: (model: PoolModel) => boolean; lack: string }
> = {
  vision: {
    has: ({ modalities, projectorGguf }) =>
      modalities.includes("vision") && projectorGguf?.projector?.vision != null,
    lack: "does not see images",
  },
  audio: {
    has: ({ modalities, projectorGguf }) =>
      modalities.includes("speech_to_text") && projectorGguf?.projector?.audio != null,
    lack: "does not hear audio",
  },
  tools: {
    has: ({ tools }) => tools !== "none",
    lack: 'has no form for calling functions; tools = "prompted" in its block gives it one',
  },
  thinking: { has: ({ thinking }) => thinking !== "never", lack: "does not think" },
  "not thinking": {
    has: ({ thinking }) => thinking !== "always",
    lack: "cannot answer without thinking",
  },
};

/** What asks for a model that sees or hears, whether or not it says that it chats. */
const OF_MEDIA: ReadonlySet<CapabilityWant["capability"]> = new Set(["vision", "audio"]);

/**
 * That a model can answer a conversation, and all that is in it. One with pictures or sounds may go to a model that
 * serves only those.
 * @throws SomnusError invalid_request that names the field which asks for what it cannot do
 */
export function requireCapabilities(model: PoolModel, wants: readonly CapabilityWant[]): void {
  const isShown = wants.some(
    ({ capability }) => OF_MEDIA.has(capability) && NEEDS[capability].has(model),
  );
  if (!isShown && !model.modalities.includes("text_generation")) {
    throw new SomnusError(
      "invalid_request",
      `${model.id} does not chat; it serves ${model.modality}.`,
      { param: "model" },
    );
  }
  for (const { capability, param } of wants) {
    if (NEEDS[capability].has(model)) continue;
    const message = `${model.id} ${NEEDS[capability].lack} (${param}).`;
    throw new SomnusError("invalid_request", message, { param });
  }
}

/**
 * That a loaded model calls functions, when it is asked to: its file is read for that before, and its engine, which
 * runs the template, knows better.
 * @throws SomnusError invalid_request
 */
export function requireToolForm(
  model: PoolModel,
  { offer }: GenerationRequest,
  { template }: Lease["facts"],
): void {
  if (!offer || offer.prompted || template.tools) return;
  throw new SomnusError("invalid_request", `${model.id} ${NEEDS.tools.lack}.`, { param: "tools" });
}
