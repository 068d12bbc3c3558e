import { serviceTimesFrom } from "./service-time.js";
import type { ModelState, ModelTerms, SchedulerState } from "./state.js";
import { noScores } from "./wait-scores.js";

/** The state of a model; one that is seen for the first time is not loaded. */
export function modelOf(state: SchedulerState, terms: ModelTerms): ModelState {
  let model = state.models.get(terms.id);
  if (model === undefined) {
    model = newModel(terms);
    state.models.set(terms.id, model);
  }
  return model;
}

/** The state of a model that nobody has asked for. */
export function newModel(terms: ModelTerms): ModelState {
  return {
    terms,
    phase: "unloaded",
    poolTokens: terms.contextTokens,
    slots: [],
    queue: [],
    waiting: { ordinary: 0, background: 0 },
    reserved: 0,
    failures: 0,
    crashes: 0,
    failure: null,
    coolUntil: 0,
    unloadAt: null,
    placement: null,
    pages: { phase: "out", bytes: 0, keeping: 0, isNext: false, problem: null },
    waitsForMemory: false,
    fitsAlone: false,
    askedAt: null,
    askedContext: null,
    madeRoom: [],
    yieldsTo: null,
    pinned: false,
    foregroundAt: null,
    barredBy: null,
    loadingMs: 0,
    clearing: [],
    use: null,
    served: 0,
    usedAt: null,
    reloadMs: terms.reloadMs?.fromTier3 ?? null,
    warmReloadMs: terms.reloadMs?.fromTier2 ?? null,
    loadsAhead: false,
    loadsWarm: false,
    times: serviceTimesFrom(terms.holdMs ?? null),
    scores: noScores(),
    heldBy: [],
    loadStartedAt: 0,
    load: 0,
  };
}

export function resetSlots(model: ModelState, count: number, at: number): void {
  model.reserved = 0;
  model.slots = Array.from({ length: count }, () => ({
    request: null,
    outline: null,
    tokens: 0,
    usedAt: at,
  }));
}
