import type { SchedulerEffect, SchedulerState } from "../state/state.js";

/** Empties the slots that nobody has used for long. */
export function emptyIdleSlots(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  const { slotIdleMs } = state.parking;
  if (slotIdleMs === Number.POSITIVE_INFINITY) return effects;
  for (const model of state.models.values()) {
    if (model.phase !== "ready") continue;
    for (const [index, slot] of model.slots.entries()) {
      if (slot.request !== null || slot.outline === null || at < slot.usedAt + slotIdleMs) continue;
      slot.outline = null;
      slot.tokens = 0;
      effects.push({ type: "erase", model: model.terms.id, slot: index });
    }
  }
  return effects;
}

/** When the next slot is to be emptied; Infinity when none is. */
export function nextEmptying({ models, parking }: SchedulerState): number {
  let next = Number.POSITIVE_INFINITY;
  if (parking.slotIdleMs === Number.POSITIVE_INFINITY) return next;
  for (const model of models.values()) {
    if (model.phase !== "ready") continue;
    for (const slot of model.slots) {
      if (slot.request !== null || slot.outline === null) continue;
      next = Math.min(next, slot.usedAt + parking.slotIdleMs);
    }
  }
  return next;
}
