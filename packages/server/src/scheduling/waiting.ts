import type { ModelState, SchedulerState } from "./state.js";

/** Requests that run on a model now. */
export function runningOn(model: ModelState): number {
  let running = 0;
  for (const slot of model.slots) if (slot.request !== null) running++;
  return running;
}

/**
 * How long the first that waits for memory leaves it to those that use it, in ms. After that they let
 * no later request in, so that it gets its turn; until then a model is not thrown out for one request
 * while others keep coming.
 */
export const PATIENCE_MS = 2_000;

/** Whether somebody wants the model to be loaded. */
export function isWanted(model: ModelState): boolean {
  return model.phase === "unloaded" && (model.queue.length > 0 || model.askedAt !== null);
}

/** Since when the model is wanted, in ms of the scheduler's clock. */
export function wantedSince(state: SchedulerState, model: ModelState): number {
  const head = model.queue[0];
  const arrived =
    head === undefined ? Number.POSITIVE_INFINITY : state.requests.get(head)!.arrivedAt;
  return Math.min(arrived, model.askedAt ?? Number.POSITIVE_INFINITY);
}

/** When a model that waits for memory stops waiting for others to leave by themselves. */
export function impatientAt(state: SchedulerState, model: ModelState): number {
  return wantedSince(state, model) + PATIENCE_MS;
}
