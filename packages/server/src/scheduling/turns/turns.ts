import type { ModelState, RequestState, SchedulerState } from "../state/state.js";
import { firstOf, runningOn } from "../state/waiting.js";
import { CLASS_STEP_MS } from "./workload.js";

/**
 * Who has the lane keeps it for requests that have at most so much less of a turn than the first of the
 * others that wait, in ms: two streams alternate in batches, and neither waits longer than this and what runs.
 */
export const BATCH_MS = 2_000;
/** A request that has had the lane for so long shares it with the next model, in ms. */
export const SHARED_AFTER_MS = 10_000;

/**
 * Whether the model's requests take the processor's lane: text generation that computes on the processor, all of
 * it or a part. Two such engines at once slow each other down far more than by half.
 */
export function takesLane(state: SchedulerState, { terms, placement }: ModelState): boolean {
  return (
    state.limits.lane && terms.heavy === true && placement !== null && placement.kind !== "gpu"
  );
}

/** For what a request that has all it needs of its own model still has to wait; null: for nothing. */
export function barredBy(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
): ModelState["barredBy"] {
  if (takesLane(state, model) && !hasLane(state, model, request, at)) return "lane";
  return isWithinLimit(state, model, request) ? null : "limit";
}

/** Notes that the model's first request waits for others than its own. */
export function bar(state: SchedulerState, model: ModelState, by: "limit" | "lane"): void {
  model.barredBy = by;
  state.held.add(model);
}

/** Takes that note away. */
export function release(state: SchedulerState, model: ModelState): void {
  model.barredBy = null;
  state.held.delete(model);
}

/** When the lane is shared with those that wait for it, if it is still in use then; null when nobody waits. */
export function laneSharedAt(state: SchedulerState, at: number): number | null {
  let waits = false;
  for (const model of state.held) if (model.barredBy === "lane") waits = true;
  if (!waits) return null;
  let shared = Number.NEGATIVE_INFINITY;
  for (const id of state.inLane) {
    shared = Math.max(shared, state.requests.get(id)!.grantedAt + SHARED_AFTER_MS);
  }
  return shared > at ? shared : null;
}

/**
 * The lane is free for a model when nothing of another model runs in it, or only what has for long; and the
 * earliest turn of those that wait for it comes first, but for the batch of the model that has it.
 */
function hasLane(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
): boolean {
  let hasIt = false;
  for (const id of state.inLane) {
    const running = state.requests.get(id)!;
    if (running.model === request.model) hasIt = true;
    else if (at < running.grantedAt + SHARED_AFTER_MS) return false;
  }
  const latest = request.turn - (hasIt ? BATCH_MS : 0);
  for (const other of state.held) {
    if (other === model || other.barredBy !== "lane") continue;
    const head = firstOf(state, other);
    if (head !== undefined && head.turn < latest) return false;
  }
  return true;
}

/** Where the limit of running requests binds, models take turns: each of theirs that runs sets a model back. */
function isWithinLimit(state: SchedulerState, model: ModelState, request: RequestState): boolean {
  const { maxRunning } = state.limits;
  if (maxRunning === null) return true;
  if (state.running >= maxRunning) return false;
  const own = shareOf(model, request);
  for (const other of state.held) {
    if (other === model || other.barredBy !== "limit") continue;
    const head = firstOf(state, other);
    if (head !== undefined && shareOf(other, head) < own) return false;
  }
  return true;
}

function shareOf(model: ModelState, request: RequestState): number {
  return request.turn + runningOn(model) * CLASS_STEP_MS;
}

/**
 * Whether no more may wait of the model, over all models. One model fills two thirds of what is left at
 * most, so that another's request still gets in.
 */
export function isQueueFull(state: SchedulerState, model: ModelState): boolean {
  const { maxQueue, maxRunning } = state.limits;
  if (maxQueue === null) return false;
  const startsNow =
    model.phase === "ready" &&
    model.queue.length === 0 &&
    runningOn(model) < model.slots.length &&
    (maxRunning === null || state.running < maxRunning);
  return !startsNow && model.queue.length >= 2 * (maxQueue - state.queued);
}
