import type { ModelState, RequestState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { advance, refuse } from "./grant.js";

/** Time that the model has spent in loads, the one under way counted in, ms. */
export function loadingMs(model: ModelState, at: number): number {
  return model.loadingMs + (model.phase === "loading" ? at - model.loadStartedAt : 0);
}

/** Sets when a waiting request's time is over; while its model loads, that is not known. */
export function watchTimeout(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
): void {
  request.timeoutAt = null;
  if (request.queueTimeoutMs === null || model.phase === "loading") return;
  const due = at + Math.max(0, request.queueTimeoutMs - waitedMs(model, request, at));
  request.timeoutAt = due;
  const { timeouts } = state;
  if (timeouts.length > 2 * state.requests.size + 64) {
    state.timeouts = timeouts.filter((entry) => holds(state, entry));
  }
  let place = state.timeouts.length;
  while (place > 0 && state.timeouts[place - 1]!.at > due) place--;
  state.timeouts.splice(place, 0, { at: due, request: request.id });
}

/** Refuses those that have waited too long for their turn. */
export function refuseTimedOut(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  for (let due = nextTimeout(state); due !== null && due <= at; due = nextTimeout(state)) {
    const request = state.requests.get(state.timeouts.shift()!.request)!;
    const model = state.models.get(request.model)!;
    const limit = request.queueTimeoutMs!;
    if (model.phase === "loading" || waitedMs(model, request, at) < limit) {
      watchTimeout(state, model, request, at);
      continue;
    }
    const code = request.ownTimeout ? "queue_timeout" : "request_timeout";
    const whose = request.ownTimeout ? "" : " (limits.queue_timeout_secs)";
    const message = `The request's turn for ${request.model} did not come within ${limit / 1_000} s${whose}.`;
    effects.push(refuse(state, model, request, code, message));
    // Those behind it may have waited for it alone.
    effects.push(...advance(state, model, at));
  }
  return effects;
}

/** When the next waiting request's time is over; null when none's is. */
export function nextTimeout(state: SchedulerState): number | null {
  const { timeouts } = state;
  while (timeouts.length > 0 && !holds(state, timeouts[0]!)) timeouts.shift();
  return timeouts[0]?.at ?? null;
}

function holds(state: SchedulerState, entry: SchedulerState["timeouts"][number]): boolean {
  const request = state.requests.get(entry.request);
  return request?.phase === "queued" && request.timeoutAt === entry.at;
}

/** Waited for its turn, loads of its model left out, ms. */
function waitedMs(model: ModelState, request: RequestState, at: number): number {
  return at - request.arrivedAt - (loadingMs(model, at) - request.loadingBefore);
}
