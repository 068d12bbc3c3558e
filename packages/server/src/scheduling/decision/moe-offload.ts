import { modelOf, withOffload } from "../state/model-state.js";
import type {
  ModelState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { startUnload } from "./grant.js";
import { isIdle } from "./lifetime.js";

/** When a new way to lay out a model is carried out. */
export type Applies = "now" | "next_load";

/**
 * Somebody sets where the experts of a model run. An idle model that was laid out otherwise goes, its weights
 * to tier 2, and its next request loads it anew; a busy one stays as it is until its next load.
 */
export function onOffloadSet(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "offloadSet" }>,
): SchedulerEffect[] {
  const model = modelOf(state, event.terms);
  const { memory, id } = model.terms;
  const told = (applies: Applies): SchedulerEffect => ({ type: "offloadTold", model: id, applies });
  if (memory === undefined) return [told("now")];
  const isOther = memory.moeOffload !== event.mode || memory.cpuExpertLayers !== null;
  model.moeOffload = event.mode;
  model.terms = withOffload(model.terms, event.mode);
  if (model.nextTerms !== null) model.nextTerms = withOffload(model.nextTerms, event.mode);
  if (!isOther || !hasExperts(model)) return [told("now")];
  model.fitsAlone = false;
  state.memoryFreed = true;
  if (model.phase === "unloaded" || model.phase === "unloading") return [told("now")];
  if (!isIdle(model)) return [told("next_load")];
  return [told("now"), startUnload(model, null, "tier2_pinned_ram")];
}

function hasExperts({ terms, poolTokens }: ModelState): boolean {
  return terms.memory?.estimate(poolTokens).layers.some((layer) => layer.experts > 0) ?? false;
}
