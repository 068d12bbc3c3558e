import { rankOf } from "../../memory/index.js";
import { advance, startUnload } from "../decision/grant.js";
import { isIdle } from "../decision/lifetime.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { destinationOf } from "../state/tier-of.js";

/**
 * An engine ran out of memory in the middle of a request: idle models of at most its priority go that use the same
 * memory, and nobody is let in to the model until they have gone.
 */
export function onRanOutOfMemory(state: SchedulerState, model: ModelState): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  const rank = rankOfModel(model);
  const onDevice = usesDevice(model);
  for (const other of state.models.values()) {
    if (other === model || other.pinned || !isIdle(other) || rankOfModel(other) > rank) continue;
    if (onDevice && !usesDevice(other)) continue;
    const toTier = onDevice ? destinationOf(state, other) : "tier3_nvme_ssd";
    const evicted = { forModel: model.terms.id, reason: "device_out_of_memory", toTier } as const;
    effects.push(startUnload(other, evicted, toTier));
    model.clearing.push(other.terms.id);
  }
  return effects;
}

/** Lets those go on that waited for the model to leave. */
export function onCleared(state: SchedulerState, gone: ModelState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  for (const model of state.models.values()) {
    const place = model.clearing.indexOf(gone.terms.id);
    if (place < 0) continue;
    model.clearing.splice(place, 1);
    if (model.clearing.length === 0) effects.push(...advance(state, model, at));
  }
  return effects;
}

function rankOfModel({ terms }: ModelState): number {
  return rankOf(terms.memory?.priority ?? "normal");
}

function usesDevice({ placement }: ModelState): boolean {
  return placement?.deviceBytes.some((bytes) => bytes > 0) ?? false;
}
