import type { ErrorCode } from "../../http/errors.js";
import { afterLoad, forgetPages } from "../placement/kept-pages.js";
import { modelOf, resetSlots, takeNextTerms, usualContext } from "../state/model-state.js";
import type {
  ModelState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { runningOn } from "../state/waiting.js";
import { demandOf, noteUse } from "../turns/demand.js";
import { USUAL_WORKLOAD } from "../turns/workload.js";
import { cooldownMs } from "./backoff.js";
import { advance, refuseAll, startUnload, unask } from "./grant.js";
import { isIdle, whyBusy } from "./lifetime.js";
import {
  forgetLimitsOfOthers,
  forgetOldLimit,
  limitForWantOfMemory,
  limitPool,
} from "./pool-limit.js";
import { loadingMs, watchTimeout } from "./queue-timeout.js";

export function onLoadAsked(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "loadAsked" }>,
): SchedulerEffect[] {
  const { at, ask = null, contextTokens } = event;
  const model = modelOf(state, event.terms);
  forgetOldLimit(model, at);
  const { id, maxContextTokens: most } = model.terms;
  const refused = { type: "loadRefused", model: id, ask } as const;
  if (contextTokens !== undefined && contextTokens > most) {
    const message = `${id} has a context of ${most} tokens at most, not ${contextTokens}.`;
    return [{ ...refused, code: "invalid_request", message, param: "context_len" }];
  }
  const asIs = contextTokens === undefined || contextTokens === model.poolTokens;
  if (model.phase === "loading") {
    if (asIs) model.loadsAhead = false;
    const message = `${id} is being loaded with a context of ${model.poolTokens} tokens.`;
    return asIs ? [] : [{ ...refused, code: "model_busy", message }];
  }
  if (model.phase === "ready" && asIs) return [];
  if (state.draining) return [noLoadWhileDraining(model, ask)];
  if (model.phase === "ready" && !isIdle(model)) {
    const message = `${id} is in use with a context of ${model.poolTokens} tokens; try again when it is idle.`;
    return [{ ...refused, code: "model_busy", message }];
  }
  if (demandOf(model) !== "any") model.waitsForMemory = false;
  // A rest is for requests that come again and again; who asks for a load means this moment.
  model.coolUntil = Math.min(model.coolUntil, at);
  model.askedAt ??= at;
  noteUse(model, USUAL_WORKLOAD, at);
  if (contextTokens !== undefined && contextTokens !== model.askedContext) {
    model.askedContext = contextTokens;
    model.poolTokens = contextTokens;
    model.waitsForMemory = false;
    model.fitsAlone = false;
  }
  return model.phase === "ready" ? [startUnload(model)] : [];
}

export function onUnloadAsked(model: ModelState): SchedulerEffect[] {
  const message = whyBusy(model);
  if (message !== null) return [{ type: "unloadRefused", model: model.terms.id, message }];
  return model.phase === "ready" ? [startUnload(model), ...forgetPages(model)] : forgetPages(model);
}

export function onLoaded(
  state: SchedulerState,
  model: ModelState,
  event: Extract<SchedulerEvent, { type: "loaded" }>,
): SchedulerEffect[] {
  model.loadingMs = loadingMs(model, event.at);
  model.phase = "ready";
  if (model.loadsWarm) model.warmReloadMs = event.at - model.loadStartedAt;
  else model.reloadMs = event.at - model.loadStartedAt;
  model.usedAt = event.at;
  // An engine that gives less than it was asked for would be asked for it without end.
  if (event.contextTokens < model.poolTokens) limitPool(model, event.contextTokens);
  model.poolTokens = event.contextTokens;
  resetSlots(model, event.slots, event.at);
  for (const { slot, outline, tokens } of event.restored ?? []) {
    Object.assign(model.slots[slot]!, { outline, tokens });
  }
  model.failures = 0;
  model.failure = null;
  model.unloadAt = event.at + model.terms.idleUnloadMs;
  for (const id of model.queue) watchTimeout(state, model, state.requests.get(id)!, event.at);
  const effects = state.draining ? [startUnload(model)] : advance(state, model, event.at);
  // Whoever wanted it may have left meanwhile: then it can go for others.
  if (runningOn(model) === 0) state.memoryFreed = true;
  effects.push(...afterLoad(state, model));
  return effects;
}

export function onLoadFailed(
  state: SchedulerState,
  model: ModelState,
  code: ErrorCode,
  message: string,
  at: number,
): SchedulerEffect[] {
  model.loadingMs = loadingMs(model, at);
  gone(state, model, at);
  model.failures++;
  fail(model, code, message, at + cooldownMs(model.failures));
  if (model.poolTokens > model.terms.contextTokens) {
    if (code === "insufficient_memory") limitForWantOfMemory(model, at);
    model.poolTokens = model.terms.contextTokens;
  }
  const told = `${model.terms.id} could not be loaded: ${message}`;
  return refuseAll(state, model, code, told);
}

/** An engine ended by itself. What is booked for it stays so until its memory has come back, as after an unload. */
export function onEngineExited(model: ModelState, at: number): SchedulerEffect[] {
  if (model.phase !== "ready") return [];
  resetSlots(model, 0, at);
  model.crashes++;
  // A crash more is free than for loads: this engine has shown that it can load.
  const coolUntil = at + cooldownMs(model.crashes - 1);
  fail(model, "engine_failed", "its engine ended unexpectedly.", coolUntil);
  return [startUnload(model)];
}

/** Why a model that rests after failures is not loaded now. */
export function coolingDown(
  model: ModelState,
  at: number,
): { code: ErrorCode; message: string; secs: number } {
  const secs = Math.max(1, Math.ceil((model.coolUntil - at) / 1000));
  const why = model.failure?.message ?? "it failed to load";
  return {
    code: "load_cooldown",
    message: `${model.terms.id} cannot be loaded at the moment: ${why} Next try in ${secs} s.`,
    secs,
  };
}

/** The engine is no more, and what was booked for it is free. */
export function gone(state: SchedulerState, model: ModelState, at: number): void {
  model.phase = "unloaded";
  model.placement = null;
  takeNextTerms(model);
  // The next load asks for what it would at first, or for what a request has needed.
  model.poolTokens = model.askedContext ?? Math.max(model.poolTokens, usualContext(model.terms));
  model.yieldsTo = null;
  state.memoryFreed = true;
  forgetLimitsOfOthers(state, model);
  resetSlots(model, 0, at);
}

function fail(model: ModelState, code: ErrorCode, message: string, coolUntil: number): void {
  model.failure = { code, message };
  model.coolUntil = coolUntil;
  model.unloadAt = null;
}

export function onDrain(state: SchedulerState): SchedulerEffect[] {
  state.draining = true;
  const effects: SchedulerEffect[] = [];
  for (const model of state.models.values()) {
    if (model.askedAt !== null) effects.push(noLoadWhileDraining(model));
    unask(model);
    model.pages.isNext = false;
    effects.push(...refuseAll(state, model, "cancelled", "The server is shutting down."));
    if (model.phase === "ready" && runningOn(model) === 0) effects.push(startUnload(model));
  }
  return effects;
}

function noLoadWhileDraining(model: ModelState, ask: number | null = null): SchedulerEffect {
  return {
    type: "loadRefused",
    model: model.terms.id,
    ask,
    code: "shutting_down",
    message: "The server is shutting down.",
  };
}
