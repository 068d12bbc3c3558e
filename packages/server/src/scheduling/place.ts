import type { ErrorCode } from "../http/errors.js";
import type { Plan, Refusal, Victim } from "../memory/index.js";
import { withoutFloor } from "./context-need.js";
import { advance, refuse, startLoad, startUnload } from "./grant.js";
import { costsOf, residentsFor, wantedOf } from "./plan-input.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "./state.js";
import { impatientAt, isWanted, wantedSince } from "./waiting.js";

/**
 * Gives memory to the models that are wanted, the one that has waited longest first, and lets those go on
 * that had made room for one which wants it no more. To be called after every event.
 */
export function settleMemory(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  const wanted: ModelState[] = [];
  for (const model of state.models.values()) {
    if (isWanted(model) && at >= model.coolUntil) wanted.push(model);
    else if (!isWanted(model)) model.waitsForMemory = false;
  }
  if (wanted.length > 1) wanted.sort((a, b) => wantedSince(state, a) - wantedSince(state, b));
  for (const model of wanted) {
    if (!model.waitsForMemory || state.memoryFreed) place(state, model, at, effects);
    // Nobody overtakes one who has waited long: what is left over is gathered for it.
    if (model.waitsForMemory && at >= impatientAt(state, model)) break;
  }
  state.memoryFreed = false;
  for (const model of state.models.values()) {
    if (model.yieldsTo === null) continue;
    const other = state.models.get(model.yieldsTo);
    if (other !== undefined && isWanted(other) && other.waitsForMemory) continue;
    model.yieldsTo = null;
    effects.push(...advance(state, model, at));
  }
  return effects;
}

/** Loads a model that is wanted, begins to make room for it, lets it wait, or refuses those who want it. */
function place(
  state: SchedulerState,
  model: ModelState,
  at: number,
  effects: SchedulerEffect[],
): void {
  const { memory } = state;
  const terms = model.terms.memory;
  if (memory === null || terms === undefined) {
    effects.push(startLoad(model, null, at));
    return;
  }
  const plan = (everybodyLeaves: boolean): Plan | Refusal =>
    memory.plan(
      memory.budgets,
      residentsFor(state, model, at, everybodyLeaves),
      wantedOf(model, terms, leastContext(state, model)),
      costsOf(state, memory.budgets, at),
    );
  const now = plan(false);
  if (now.accepted && now.victims.length === 0) {
    effects.push(startLoad(model, now.placement, at));
    return;
  }
  if (now.accepted) {
    model.waitsForMemory = true;
    for (const victim of now.victims) effects.push(evict(state, victim, model));
    return;
  }
  const later = plan(true);
  if (!later.accepted) {
    refuseWanted(state, model, later, effects);
    return;
  }
  model.waitsForMemory = true;
  if (at < impatientAt(state, model)) return;
  for (const victim of later.victims) {
    const other = state.models.get(victim.model)!;
    if (other.phase === "ready") other.yieldsTo = model.terms.id;
  }
}

function evict(state: SchedulerState, victim: Victim, wanted: ModelState): SchedulerEffect {
  return startUnload(state.models.get(victim.model)!, {
    forModel: wanted.terms.id,
    reason: victim.reason,
    toTier: victim.toTier,
  });
}

/** Context without which loading the model is of no use to the first who waits for it. */
function leastContext(state: SchedulerState, model: ModelState): number {
  const head = model.queue[0];
  const need = head === undefined ? null : state.requests.get(head)!.need;
  const room = need === null ? 1 : withoutFloor(need);
  return Math.max(1, Math.min(model.poolTokens, room));
}

function refuseWanted(
  state: SchedulerState,
  model: ModelState,
  refusal: Refusal,
  effects: SchedulerEffect[],
): void {
  const code: ErrorCode = refusal.code;
  const message = `${model.terms.id} cannot be loaded: ${refusal.reason}`;
  model.failure = { code, message: refusal.reason };
  if (model.askedAt !== null) {
    effects.push({ type: "loadRefused", model: model.terms.id, code, message });
  }
  model.askedAt = null;
  model.waitsForMemory = false;
  if (model.poolTokens > model.terms.contextTokens) {
    // There is no memory for a larger pool; those who can do without it may still come.
    model.terms = { ...model.terms, maxContextTokens: model.terms.contextTokens };
    model.poolTokens = model.terms.contextTokens;
  }
  for (const id of [...model.queue]) {
    effects.push(refuse(state, model, state.requests.get(id)!, code, message));
  }
}
