import { modelOf } from "../state/model-state.js";
import type { SchedulerEffect, SchedulerEvent, SchedulerState } from "../state/state.js";
import { advance } from "./grant.js";

/**
 * A pinned model goes only when a person unloads it, and when the server ends: no idle time, `keep_alive` or other
 * model's need takes it out. The pin outlives its engine, not the server.
 */
export function onPinAsked(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "pinAsked" }>,
): SchedulerEffect[] {
  const { pinned, at } = event;
  const model = modelOf(state, event.terms);
  if (model.pinned === pinned) return [];
  model.pinned = pinned;
  // What others can hope for is another thing now.
  state.memoryFreed = true;
  for (const other of state.models.values()) other.fitsAlone = false;
  if (!pinned) {
    if (model.unloadAt !== null) {
      model.unloadAt = Math.max(model.unloadAt, at + model.terms.idleUnloadMs);
    }
    return [];
  }
  model.yieldsTo = null;
  return advance(state, model, at);
}
