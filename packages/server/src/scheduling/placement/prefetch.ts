import { expectedPerMinute, lossOf, type Resident } from "../../memory/index.js";
import { startLoad } from "../decision/grant.js";
import { budgetsBesideParked } from "../parking/books.js";
import { modelOf } from "../state/model-state.js";
import type {
  ModelState,
  ModelTerms,
  Prefetch,
  SchedulerEffect,
  SchedulerState,
} from "../state/state.js";
import { isWanted, mayBeStopped } from "../state/waiting.js";
import { loadMsOf } from "../waits/estimated-wait.js";
import { evict, isLeaving } from "./evict.js";
import { planFor, residentsFor, wantedOf } from "./plan-input.js";

/** Notes that a model is likely to be asked for next; it loads where that hurts nobody. */
export function prefetch(state: SchedulerState, terms: ModelTerms, during: number | null): void {
  const model = modelOf(state, terms);
  if (model.phase !== "unloaded" || isWanted(model) || state.prefetches.has(terms.id)) return;
  state.prefetches.set(terms.id, { during, madeRoom: [] });
}

/**
 * Begins the loads that nobody waits for, as far as nobody else is waiting for memory, and only models go for
 * them that are idle and together worth less. To be called after those that are wanted have been served.
 * @param mayFit whether anything has changed since this was tried last
 */
export function settlePrefetches(
  state: SchedulerState,
  at: number,
  mayFit: boolean,
): SchedulerEffect[] {
  if (state.prefetches.size === 0) return [];
  const effects: SchedulerEffect[] = [];
  const isSomebodyWaiting = [...state.models.values()].some(isWanted);
  for (const [id, wish] of state.prefetches) {
    const model = state.models.get(id)!;
    if (isOver(state, model, wish, at)) state.prefetches.delete(id);
    else if (mayFit && !isSomebodyWaiting) load(state, model, wish, at, effects);
    const isTried = wish.during === null && wish.madeRoom.length === 0;
    if (isTried) state.prefetches.delete(id);
  }
  return effects;
}

function isOver(state: SchedulerState, model: ModelState, wish: Prefetch, at: number): boolean {
  if (state.draining || model.phase !== "unloaded" || isWanted(model)) return true;
  if (at < model.coolUntil) return true;
  return wish.during !== null && state.requests.get(wish.during)?.phase !== "running";
}

function load(
  state: SchedulerState,
  model: ModelState,
  wish: Prefetch,
  at: number,
  effects: SchedulerEffect[],
): void {
  if (wish.madeRoom.some((id) => isLeaving(state.models.get(id)!))) return;
  const start = (placement: Parameters<typeof startLoad>[1]) => {
    model.madeRoom = wish.madeRoom;
    state.prefetches.delete(model.terms.id);
    effects.push(startLoad(model, placement, at));
    model.loadsAhead = true;
  };
  const { memory } = state;
  const terms = model.terms.memory;
  if (memory === null || terms === undefined) {
    start(null);
    return;
  }
  const residents = residentsFor(state, model, at, "any").map((one): Resident => {
    // Loads for which nobody waits do not stop each other.
    const isAlike = mayBeStopped(state, state.models.get(one.model)!);
    return isAlike ? { ...one, held: "loading" } : one;
  });
  const wanted = wantedOf(model, terms, model.poolTokens, "any");
  const budgets = budgetsBesideParked(state, false);
  const plan = planFor(state, memory, wanted, residents, at, budgets);
  if (plan.accepted && plan.victims.length === 0 && !plan.releasesOwnPages) {
    start(plan.placement);
    return;
  }
  // The room that was made for it has been taken by somebody else.
  if (wish.madeRoom.length > 0) state.prefetches.delete(model.terms.id);
  if (!plan.accepted || plan.releasesOwnPages || wish.madeRoom.length > 0) return;
  const gain = lossOf(loadMsOf(state, model) ?? 0, expectedPerMinute(model.use, at));
  if (plan.cost.lossMsPerMinute >= gain) return;
  for (const victim of plan.victims) {
    effects.push(...evict(state, victim, model, plan.victims));
    if (!wish.madeRoom.includes(victim.model)) wish.madeRoom.push(victim.model);
  }
}
