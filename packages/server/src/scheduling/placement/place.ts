import type { ErrorCode } from "../../http/errors.js";
import type { Plan, Refusal } from "../../memory/index.js";
import { expectedTokens } from "../decision/context-need.js";
import { advance, refuseAll, startLoad, unask } from "../decision/grant.js";
import { budgetsBesideParked, planAheadOfParked } from "../parking/books.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { firstOf, impatientAt, isWanted, wantedTurn } from "../state/waiting.js";
import { demandOf, isSpared, SPARED_MS } from "../turns/demand.js";
import { isClearing } from "./clearing.js";
import { evict, isLeaving } from "./evict.js";
import { giveBack } from "./kept-pages.js";
import { planFor, residentsFor, wantedOf } from "./plan-input.js";

/**
 * Models planned for at most after one event. Who is behind them is tried after the next one: while the
 * first of them waits, somebody uses memory, and will leave.
 */
const MOST_PLANS = 4;

/**
 * Gives memory to the models that are wanted, the one whose turn is the earliest first, and lets those go on
 * that had made room for one which wants it no more. To be called after every event.
 */
export function settleMemory(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  const due = takeDue(state, at);
  for (const model of due.models) {
    // Nobody overtakes one who has waited long: what is left over is gathered for it.
    if (due.plans === 0 || wantedTurn(state, model) > due.impatientTurn) {
      model.waitsForMemory = true;
      continue;
    }
    due.plans--;
    place(state, model, at, effects);
    if (model.waitsForMemory && at >= impatientAt(state, model)) {
      due.impatientTurn = Math.min(due.impatientTurn, wantedTurn(state, model));
    }
  }
  for (const model of state.models.values()) {
    if (model.yieldsTo === null) continue;
    const other = state.models.get(model.yieldsTo);
    // Also where it yields on: whose turn comes first may be another by now, when an earlier one has left.
    const yields = other !== undefined && isWanted(other) && other.waitsForMemory;
    if (!yields) model.yieldsTo = null;
    effects.push(...advance(state, model, at));
  }
  return effects;
}

/** Who is to be planned for now, and the earliest turn of those that have lost patience. */
function takeDue(
  state: SchedulerState,
  at: number,
): { models: ModelState[]; impatientTurn: number; plans: number } {
  const models: ModelState[] = [];
  let impatientTurn = Number.POSITIVE_INFINITY;
  for (const model of state.models.values()) {
    if (!isWanted(model)) {
      model.waitsForMemory = false;
      if (model.madeRoom.length > 0) model.madeRoom = [];
    } else if (at >= model.coolUntil) {
      if (!model.waitsForMemory || state.memoryFreed) models.push(model);
      else if (at >= impatientAt(state, model)) {
        impatientTurn = Math.min(impatientTurn, wantedTurn(state, model));
      }
    }
  }
  state.memoryFreed = false;
  if (models.length > 1) models.sort((a, b) => wantedTurn(state, a) - wantedTurn(state, b));
  return { models, impatientTurn, plans: MOST_PLANS };
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
  if (isClearing(state, model) || model.madeRoom.some((id) => isLeaving(state.models.get(id)!))) {
    // Beside those that still leave for it, it would have to do with less than it made them go for.
    model.waitsForMemory = true;
    return;
  }
  const demand = demandOf(model);
  const plan = (everybodyLeaves: boolean, by = demand): Plan | Refusal => {
    const residents = residentsFor(state, model, at, by, everybodyLeaves);
    const wanted = wantedOf(model, terms, leastContext(state, model), by);
    const budgets = budgetsBesideParked(state, everybodyLeaves);
    return planFor(state, memory, wanted, residents, at, budgets);
  };
  const now = planAheadOfParked(state, model, effects, () => plan(false));
  if (now.accepted && now.victims.length === 0) {
    if (now.releasesOwnPages) {
      // Booked until they have been given back: it is planned again then.
      model.waitsForMemory = true;
      effects.push(...giveBack(model));
      return;
    }
    effects.push(startLoad(model, now.placement, at));
    return;
  }
  model.waitsForMemory = true;
  if (now.accepted) {
    for (const victim of now.victims) {
      effects.push(...evict(state, victim, model, now.victims));
      if (!model.madeRoom.includes(victim.model)) model.madeRoom.push(victim.model);
    }
    return;
  }
  const isImpatient = at >= impatientAt(state, model);
  const mayWait = demand !== "nobody";
  if (model.fitsAlone && mayWait && (!isImpatient || hasOthersYield(state, model))) return;
  const later = plan(true);
  if (!later.accepted && demand !== "any" && (model.fitsAlone || plan(true, "any").accepted)) {
    model.fitsAlone = true;
    if (!mayWait || isImpatient) refuseWithoutRoom(state, model, at, effects);
    return;
  }
  if (!later.accepted) {
    if (model.askedContext === null) {
      refuseWanted(state, model, later, effects);
    } else {
      refuseAsked(model, later, effects);
      // Those that wait with a request can do with another context.
      if (isWanted(model)) place(state, model, at, effects);
      else model.madeRoom = [];
    }
    return;
  }
  model.fitsAlone = true;
  if (!isImpatient) return;
  for (const victim of later.victims) {
    const other = state.models.get(victim.model)!;
    if (other.phase === "ready") other.yieldsTo = model.terms.id;
  }
}

function hasOthersYield(state: SchedulerState, model: ModelState): boolean {
  for (const other of state.models.values()) if (other.yieldsTo === model.terms.id) return true;
  return false;
}

/** Context without which loading the model is of no use to the first who waits for it. */
function leastContext(state: SchedulerState, model: ModelState): number {
  if (model.askedContext !== null) return model.poolTokens;
  const head = firstOf(state, model);
  const room = head === undefined ? 1 : expectedTokens(head.need);
  return Math.max(1, Math.min(model.poolTokens, room));
}

/** Refuses a load with a pool context that somebody has set, and forgets that context. */
function refuseAsked(model: ModelState, refusal: Refusal, effects: SchedulerEffect[]): void {
  effects.push(askRefused(model, refusal));
  unask(model);
}

function askRefused(model: ModelState, { code, reason }: Refusal): SchedulerEffect {
  const message = `${model.terms.id} cannot be loaded: ${reason}`;
  return { type: "loadRefused", model: model.terms.id, ask: null, code, message };
}

/** Refuses those that would need memory of models which they have to leave alone. */
function refuseWithoutRoom(
  state: SchedulerState,
  model: ModelState,
  at: number,
  effects: SchedulerEffect[],
): void {
  let free = Number.POSITIVE_INFINITY;
  for (const other of state.models.values()) {
    if (other.placement !== null && isSpared(other, at)) {
      free = Math.min(free, other.foregroundAt! + SPARED_MS);
    }
  }
  const secs = Number.isFinite(free) ? Math.max(1, Math.ceil((free - at) / 1_000)) : 5;
  const message = `${model.terms.id} is not loaded, and there is no room for it beside the models that others use.`;
  for (const refused of refuseAll(state, model, "memory_in_use", message)) {
    effects.push({ ...refused, retryAfterSecs: secs });
  }
  model.waitsForMemory = false;
  model.madeRoom = [];
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
  if (model.askedAt !== null) effects.push(askRefused(model, refusal));
  model.askedAt = null;
  model.waitsForMemory = false;
  model.madeRoom = [];
  // There is no memory for a larger pool now; those who can do without it may still come.
  model.poolTokens = Math.min(model.poolTokens, model.terms.contextTokens);
  effects.push(...refuseAll(state, model, code, message));
}
