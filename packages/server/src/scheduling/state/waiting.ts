import { demandOf } from "../turns/demand.js";
import { turnOf, USUAL_WORKLOAD } from "../turns/workload.js";
import type { ModelState, RequestState, SchedulerState } from "./state.js";

/** Requests that run on a model now. */
export function runningOn(model: ModelState): number {
  let running = 0;
  for (const slot of model.slots) if (slot.request !== null) running++;
  return running;
}

/** The first of a model's queue; undefined when it is empty. */
export function firstOf(state: SchedulerState, { queue }: ModelState): RequestState | undefined {
  return queue.length === 0 ? undefined : state.requests.get(queue[0]!);
}

/**
 * How long the first that waits for memory leaves it to those that use it, in ms. After that they let
 * no later request in, so that it gets its turn; until then a model is not thrown out for one request
 * while others keep coming.
 */
export const PATIENCE_MS = 2_000;

/** The same of background work, in ms; after that it is refused where it still may not take what others use. */
export const BACKGROUND_PATIENCE_MS = 30_000;

/** Whether somebody wants the model to be loaded. */
export function isWanted(model: ModelState): boolean {
  return model.phase === "unloaded" && (model.queue.length > 0 || model.askedAt !== null);
}

/** Whether the model is being loaded only because it may be asked for next: whoever needs its memory has it stopped. */
export function mayBeStopped(state: SchedulerState, model: ModelState): boolean {
  if (model.phase !== "loading" || !model.loadsAhead || model.queue.length > 0) return false;
  return !state.parking.restoring.has(model.terms.id);
}

/** Since when the first of those that want the model waits, in ms of the scheduler's clock. */
export function wantedSince(state: SchedulerState, model: ModelState): number {
  const arrived = firstOf(state, model)?.arrivedAt ?? Number.POSITIVE_INFINITY;
  return Math.min(arrived, model.askedAt ?? Number.POSITIVE_INFINITY);
}

/** The earliest turn of those that want the model (see `turnOf`). */
export function wantedTurn(state: SchedulerState, model: ModelState): number {
  const turn = firstOf(state, model)?.turn ?? Number.POSITIVE_INFINITY;
  return model.askedAt === null ? turn : Math.min(turn, turnOf(USUAL_WORKLOAD, model.askedAt));
}

/** When a model that waits for memory stops waiting for others to leave by themselves. */
export function impatientAt(state: SchedulerState, model: ModelState): number {
  const patience = demandOf(model) === "any" ? PATIENCE_MS : BACKGROUND_PATIENCE_MS;
  return wantedSince(state, model) + patience;
}
