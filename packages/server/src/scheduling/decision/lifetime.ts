import { nextEmptying } from "../parking/idle-slots.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { destinationOf } from "../state/tier-of.js";
import { impatientAt, isWanted, runningOn } from "../state/waiting.js";
import { startUnload } from "./grant.js";
import { nextTimeout, refuseTimedOut } from "./queue-timeout.js";

export function isIdle(model: ModelState): boolean {
  return model.phase === "ready" && model.queue.length === 0 && runningOn(model) === 0;
}

/** Why nobody can have the model leave now; null when its engine is idle, or it has none and nobody waits for one. */
export function whyBusy(model: ModelState): string | null {
  const { id } = model.terms;
  if (model.phase === "loading" || isWanted(model)) {
    return `${id} is being loaded; try again when it is idle.`;
  }
  if (model.phase === "ready" && !isIdle(model)) {
    return `${id} is in use; try again when it is idle.`;
  }
  return null;
}

export function isOverdue(model: ModelState, at: number): boolean {
  return !model.pinned && model.unloadAt !== null && model.unloadAt <= at;
}

export function onTick(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects = refuseTimedOut(state, at);
  for (const model of state.models.values()) {
    if (isIdle(model) && isOverdue(model, at)) {
      effects.push(startUnload(model, null, destinationOf(state, model)));
    }
  }
  // Somebody may have lost patience by now.
  state.memoryFreed = true;
  return effects;
}

/** The next time at which something is due by itself. */
export function nextTimer(state: SchedulerState, at: number): number | null {
  let next = Math.min(
    nextTimeout(state) ?? Number.POSITIVE_INFINITY,
    state.laneSharedAt ?? Number.POSITIVE_INFINITY,
  );
  for (const model of state.models.values()) {
    if (!model.pinned && model.unloadAt !== null && isIdle(model))
      next = Math.min(next, model.unloadAt);
    if (!isWanted(model)) continue;
    if (at < model.coolUntil) next = Math.min(next, model.coolUntil);
    else if (model.waitsForMemory) {
      const due = impatientAt(state, model);
      if (at < due) next = Math.min(next, due);
    }
  }
  next = Math.min(next, nextEmptying(state));
  return Number.isFinite(next) ? next : null;
}
