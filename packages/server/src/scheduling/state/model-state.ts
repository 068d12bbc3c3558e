import { serviceTimesFrom } from "../waits/service-time.js";
import { noScores } from "../waits/wait-scores.js";
import type { MemoryTerms } from "./memory-terms.js";
import type { ModelState, ModelTerms, SchedulerState } from "./state.js";

/** The state of a model; one that is seen for the first time is not loaded. */
export function modelOf(state: SchedulerState, terms: ModelTerms): ModelState {
  let model = state.models.get(terms.id);
  if (model === undefined) {
    model = newModel(terms);
    state.models.set(terms.id, model);
  } else {
    const latest = latestTerms(model, terms);
    model.nextTerms = latest === model.terms ? null : latest;
    takeNextTerms(model);
  }
  return model;
}

/** The terms of the model's next load, when it is now told to have these: its own while its files are the same. */
export function latestTerms(model: ModelState, terms: ModelTerms): ModelTerms {
  if (terms.memory?.readFrom === model.terms.memory?.readFrom) return model.terms;
  return model.moeOffload === null ? terms : withOffload(terms, model.moeOffload);
}

/** Takes the terms of files that have replaced a model's, once nothing of the files before is in memory. */
export function takeNextTerms(model: ModelState): void {
  const { nextTerms: terms } = model;
  if (terms === null || model.phase !== "unloaded" || model.pages.phase !== "out") return;
  model.nextTerms = null;
  model.terms = terms;
  model.poolLimit = null;
  model.poolTokens = Math.min(model.askedContext ?? usualContext(terms), terms.maxContextTokens);
  model.waitsForMemory = false;
  model.fitsAlone = false;
}

/** The pool context that a model is loaded with when nobody asks for another one, tokens. */
export function usualContext(
  terms: Pick<ModelTerms, "contextTokens" | "maxContextTokens">,
): number {
  return Math.min(terms.contextTokens, terms.maxContextTokens);
}

/** Terms with the experts where somebody wants them: layers that the configuration names exactly give way to that. */
export function withOffload(terms: ModelTerms, mode: MemoryTerms["moeOffload"]): ModelTerms {
  const { memory } = terms;
  if (memory === undefined) return terms;
  return { ...terms, memory: { ...memory, moeOffload: mode, cpuExpertLayers: null } };
}

/** The state of a model that nobody has asked for. */
export function newModel(terms: ModelTerms): ModelState {
  return {
    terms,
    nextTerms: null,
    moeOffload: null,
    poolLimit: null,
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
