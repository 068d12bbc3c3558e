import { advance } from "../decision/grant.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { firstOf } from "../state/waiting.js";
import { barredBy, laneSharedAt, release } from "./turns.js";

/**
 * Lets requests in that wait for other models' requests alone, by their turns. To be called after every
 * event.
 */
export function settleTurns(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  let again = state.held.size > 0;
  while (again) {
    again = false;
    for (const model of byTurn(state)) {
      const head = firstOf(state, model);
      if (head === undefined || model.phase !== "ready") {
        release(state, model);
        continue;
      }
      const by = barredBy(state, model, head, at);
      if (by !== null) {
        model.barredBy = by;
        continue;
      }
      const { queued } = state;
      release(state, model);
      effects.push(...advance(state, model, at));
      // What others are compared with has changed.
      again = state.queued !== queued || !state.held.has(model);
      if (again) break;
    }
  }
  state.laneSharedAt = state.held.size > 0 ? laneSharedAt(state, at) : null;
  return effects;
}

function byTurn(state: SchedulerState): ModelState[] {
  const turn = (model: ModelState) => firstOf(state, model)?.turn ?? 0;
  return [...state.held].sort((a, b) => turn(a) - turn(b));
}
