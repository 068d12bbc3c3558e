import type { Victim } from "../../memory/index.js";
import { startUnload } from "../decision/grant.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { giveBack } from "./kept-pages.js";

/** Whether memory of a model is on its way out. */
export function isLeaving({ phase, pages }: ModelState): boolean {
  return phase === "unloading" || pages.phase === "leaving";
}

/** Begins to take from a model what has to go for another one. `all`: whatever goes for that one. */
export function evict(
  state: SchedulerState,
  { model: id, from, reason, toTier }: Victim,
  wanted: ModelState,
  all: readonly Victim[],
): SchedulerEffect[] {
  const model = state.models.get(id)!;
  // What a load that is stopped has read so far is not worth keeping.
  const isStopped = model.phase === "loading";
  const to = isStopped && model.pages.phase !== "kept" ? "tier3_nvme_ssd" : toTier;
  const evicted = { forModel: wanted.terms.id, reason, toTier: to };
  if (from === "tier1_gpu_vram") {
    return [startUnload(model, evicted, isStopped ? "tier3_nvme_ssd" : toTier)];
  }
  // One model that goes with its pages is one eviction.
  const goesWhole = all.some((one) => one.model === id && one.from === "tier1_gpu_vram");
  return giveBack(model, goesWhole ? null : evicted);
}
