import type { MemoryTier } from "../../memory/index.js";
import type { ModelState, SchedulerState } from "./state.js";

/** The tier that a model is in: it serves, its weights are kept, or it is on disk only, as one that nobody has asked for. */
export function tierOf(model: ModelState | undefined): MemoryTier {
  if (model?.phase === "ready") return "tier1_gpu_vram";
  return model?.pages.phase === "kept" ? "tier2_pinned_ram" : "tier3_nvme_ssd";
}

/** Where an idle model goes that nobody sends anywhere. */
export function destinationOf(state: SchedulerState, model: ModelState): MemoryTier {
  const staysWarm = model.terms.memory?.keepWarm === true && !state.draining;
  return staysWarm ? "tier2_pinned_ram" : "tier3_nvme_ssd";
}
