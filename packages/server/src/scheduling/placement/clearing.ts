import type { ModelState, SchedulerState } from "../state/state.js";

/** Whether models still leave for one that ran out of memory. */
export function isClearing(state: SchedulerState, model: ModelState): boolean {
  if (model.clearing.length === 0) return false;
  return model.clearing.some((id) => state.models.get(id)!.phase === "unloading");
}
