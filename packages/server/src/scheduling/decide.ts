import type { ErrorCode } from "../http/errors.js";
import { withRequest as withOneMore } from "../memory/index.js";
import { cooldownMs } from "./backoff.js";
import { advance, refuse, startUnload, unask } from "./grant.js";
import { settleMemory } from "./place.js";
import type {
  ModelState,
  ModelTerms,
  RequestState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "./state.js";
import { impatientAt, isWanted, runningOn } from "./waiting.js";

/**
 * The scheduler: takes one event, changes the state it owns in place and returns what must be done.
 * No I/O, no clock, no randomness; the same events give the same effects.
 */
export function decide(state: SchedulerState, event: SchedulerEvent): SchedulerEffect[] {
  // The timer rang, or might as well have: it is set again where something is due later.
  if (event.type === "tick") state.timerAt = null;
  const effects = react(state, event);
  effects.push(...settleMemory(state, event.at));
  const timerAt = nextTimer(state, event.at);
  if (timerAt !== state.timerAt) {
    state.timerAt = timerAt;
    effects.push({ type: "timer", at: timerAt });
  }
  return effects;
}

function react(state: SchedulerState, event: SchedulerEvent): SchedulerEffect[] {
  switch (event.type) {
    case "arrived":
      return onArrived(state, event);
    case "counted":
      return withRequest(state, event.request, (request, model) => {
        request.counting = false;
        request.need.promptTokens = event.promptTokens;
        return advance(state, model, event.at);
      });
    case "countFailed":
      return withRequest(state, event.request, (request, model) => {
        request.counting = false;
        // An engine that died takes the count with it; the request stays and its model loads again.
        if (model.phase !== "ready") return advance(state, model, event.at);
        return [
          refuse(state, model, request, event.code, event.message),
          ...advance(state, model, event.at),
        ];
      });
    case "measured":
      return withRequest(state, event.request, (request, model) =>
        onMeasured(state, model, request, event.promptTokens, event.at),
      );
    case "cancelled":
      return withRequest(state, event.request, (request, model) => {
        if (request.phase === "running") return [];
        const effect = refuse(
          state,
          model,
          request,
          "cancelled",
          "The client closed the connection.",
        );
        // It may have been the claim that kept the model, or the one that another made room for.
        state.memoryFreed = true;
        return [effect, ...afterUse(state, model, event.at)];
      });
    case "finished":
      return withRequest(state, event.request, (request, model) =>
        onFinished(state, model, request, event),
      );
    case "loadAsked":
      return onLoadAsked(state, event);
    case "loadUnasked":
      return withModel(state, event.model, (model) => {
        if (model.phase === "loading") return [];
        unask(model);
        // Others may have made room for it.
        state.memoryFreed = true;
        return [];
      });
    case "loaded":
      return withModel(state, event.model, (model) => {
        model.phase = "ready";
        model.reloadMs = event.at - model.loadStartedAt;
        model.usedAt = event.at;
        // An engine that gives less than it was asked for would be asked for it without end.
        if (event.contextTokens < model.poolTokens) limitContext(model, event.contextTokens);
        model.poolTokens = event.contextTokens;
        resetSlots(model, event.slots, event.at);
        model.failures = 0;
        model.failure = null;
        model.unloadAt = event.at + model.terms.idleUnloadMs;
        const effects = state.draining ? [startUnload(model)] : advance(state, model, event.at);
        // Whoever wanted it may have left meanwhile: then it can go for others.
        if (runningOn(model) === 0) state.memoryFreed = true;
        return effects;
      });
    case "loadFailed":
      return withModel(state, event.model, (model) =>
        onLoadFailed(state, model, event.code, event.message, event.at),
      );
    case "unloaded":
      return withModel(state, event.model, (model) => {
        gone(state, model, event.at);
        return [];
      });
    case "engineExited":
      return withModel(state, event.model, (model) => onEngineExited(state, model, event.at));
    case "unloadAsked":
      return withModel(state, event.model, (model) => onUnloadAsked(model));
    case "memoryMeasured":
      state.memory = event.memory;
      state.memoryFreed = true;
      for (const model of state.models.values()) model.fitsAlone = false;
      return [];
    case "drainAsked":
      return onDrain(state);
    case "tick":
      return onTick(state, event.at);
  }
}

function onArrived(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "arrived" }>,
): SchedulerEffect[] {
  const { request: id, terms, at } = event;
  if (state.draining) {
    return [turnAway(id, "shutting_down", "The server is shutting down.")];
  }
  const model = modelOf(state, terms);
  model.use = withOneMore(model.use, at);
  if (model.phase === "unloaded" && at < model.coolUntil) {
    const { code, message, secs } = coolingDown(model, at);
    return [turnAway(id, code, message, secs)];
  }
  const bound = Math.max(state.maxQueuePerModel, terms.slots);
  if (model.queue.length + runningOn(model) + 1 > bound) {
    return [
      turnAway(
        id,
        "model_busy",
        `${terms.id} has ${bound} requests running or waiting already; try again shortly.`,
      ),
    ];
  }
  state.requests.set(id, {
    id,
    model: terms.id,
    need: { ...event.need },
    outline: event.outline,
    arrivedAt: at,
    keepAliveMs: event.keepAliveMs,
    phase: "queued",
    counting: false,
    slot: -1,
    reserved: 0,
    load: -1,
  });
  model.queue.push(id);
  return advance(state, model, at);
}

/** Why a model that rests after failures is not loaded now. */
function coolingDown(
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

function noLoadWhileDraining(model: ModelState, ask: number | null = null): SchedulerEffect {
  return {
    type: "loadRefused",
    model: model.terms.id,
    ask,
    code: "shutting_down",
    message: "The server is shutting down.",
  };
}

function onMeasured(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  promptTokens: number,
  at: number,
): SchedulerEffect[] {
  if (!holdsSlot(model, request)) return [];
  request.need.promptTokens = promptTokens;
  if (request.need.asked !== undefined) return [];
  const exact = Math.min(promptTokens + request.need.maxTokens, request.reserved);
  model.reserved -= request.reserved - exact;
  request.reserved = exact;
  return advance(state, model, at);
}

function onFinished(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  event: Extract<SchedulerEvent, { type: "finished" }>,
): SchedulerEffect[] {
  if (request.phase !== "running") return [];
  state.requests.delete(request.id);
  model.usedAt = event.at;
  if (event.answered) {
    model.served++;
    model.crashes = 0;
  }
  if (holdsSlot(model, request)) {
    model.reserved -= request.reserved;
    const slot = model.slots[request.slot]!;
    slot.request = null;
    if (event.outline !== null) slot.outline = event.outline;
    slot.usedAt = event.at;
    // Also while others wait: they may be refused, and then nobody else would say when it goes.
    model.unloadAt = event.at + (request.keepAliveMs ?? model.terms.idleUnloadMs);
  }
  if (runningOn(model) === 0) state.memoryFreed = true;
  return afterUse(state, model, event.at);
}

/** Whether a request runs on the engine that is loaded now, and not on one that has ended. */
function holdsSlot(model: ModelState, request: RequestState): boolean {
  return request.phase === "running" && model.phase === "ready" && request.load === model.load;
}

/** Lets the next ones in, or the model go when nobody is left and its time is over. */
function afterUse(state: SchedulerState, model: ModelState, at: number): SchedulerEffect[] {
  if (isIdle(model) && (state.draining || isOverdue(model, at))) return [startUnload(model)];
  return advance(state, model, at);
}

function onLoadAsked(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "loadAsked" }>,
): SchedulerEffect[] {
  const { at, ask = null, contextTokens } = event;
  const model = modelOf(state, event.terms);
  const { id, maxContextTokens: most } = model.terms;
  const refused = { type: "loadRefused", model: id, ask } as const;
  if (contextTokens !== undefined && contextTokens > most) {
    const message = `${id} has a context of ${most} tokens at most, not ${contextTokens}.`;
    return [{ ...refused, code: "invalid_request", message, param: "context_len" }];
  }
  const asIs = contextTokens === undefined || contextTokens === model.poolTokens;
  if (model.phase === "loading") {
    const message = `${id} is being loaded with a context of ${model.poolTokens} tokens.`;
    return asIs ? [] : [{ ...refused, code: "model_busy", message }];
  }
  if (model.phase === "ready" && asIs) return [];
  if (state.draining) return [noLoadWhileDraining(model, ask)];
  if (model.phase === "unloaded" && at < model.coolUntil) {
    const { code, message, secs } = coolingDown(model, at);
    return [{ ...refused, code, message, retryAfterSecs: secs }];
  }
  if (model.phase === "ready" && !isIdle(model)) {
    const message = `${id} is in use with a context of ${model.poolTokens} tokens; try again when it is idle.`;
    return [{ ...refused, code: "model_busy", message }];
  }
  model.askedAt ??= at;
  if (contextTokens !== undefined && contextTokens !== model.askedContext) {
    model.askedContext = contextTokens;
    model.poolTokens = contextTokens;
    model.waitsForMemory = false;
    model.fitsAlone = false;
  }
  return model.phase === "ready" ? [startUnload(model)] : [];
}

function onUnloadAsked(model: ModelState): SchedulerEffect[] {
  const { id } = model.terms;
  if (model.phase === "unloading") return [];
  if (model.phase === "loading" || isWanted(model)) {
    const message = `${id} is being loaded; try again when it is idle.`;
    return [{ type: "unloadRefused", model: id, message }];
  }
  if (model.phase === "unloaded") return [];
  if (isIdle(model)) return [startUnload(model)];
  const message = `${id} is in use; try again when it is idle.`;
  return [{ type: "unloadRefused", model: id, message }];
}

function onLoadFailed(
  state: SchedulerState,
  model: ModelState,
  code: ErrorCode,
  message: string,
  at: number,
): SchedulerEffect[] {
  gone(state, model, at);
  model.failures++;
  fail(model, code, message, at + cooldownMs(model.failures));
  if (model.poolTokens > model.terms.contextTokens) {
    // A larger pool that there is no memory for is not asked for again.
    if (code === "insufficient_memory") limitContext(model, model.terms.contextTokens);
    model.poolTokens = model.terms.contextTokens;
  }
  const told = `${model.terms.id} could not be loaded: ${message}`;
  return [...model.queue].map((id) => refuse(state, model, state.requests.get(id)!, code, told));
}

function onEngineExited(state: SchedulerState, model: ModelState, at: number): SchedulerEffect[] {
  if (model.phase !== "ready") return [];
  gone(state, model, at);
  model.crashes++;
  // A crash more is free than for loads: this engine has shown that it can load.
  const coolUntil = at + cooldownMs(model.crashes - 1);
  fail(model, "engine_failed", "its engine ended unexpectedly.", coolUntil);
  return [];
}

/** The engine is no more, and what was booked for it is free. */
function gone(state: SchedulerState, model: ModelState, at: number): void {
  model.phase = "unloaded";
  model.placement = null;
  // The next load asks for what it would at first, or for what a request has needed.
  const usual = Math.min(model.terms.contextTokens, model.terms.maxContextTokens);
  model.poolTokens = model.askedContext ?? Math.max(model.poolTokens, usual);
  model.yieldsTo = null;
  state.memoryFreed = true;
  resetSlots(model, 0, at);
}

function fail(model: ModelState, code: ErrorCode, message: string, coolUntil: number): void {
  model.failure = { code, message };
  model.coolUntil = coolUntil;
  model.unloadAt = null;
}

function limitContext(model: ModelState, tokens: number): void {
  model.terms = { ...model.terms, maxContextTokens: tokens };
}

function onDrain(state: SchedulerState): SchedulerEffect[] {
  state.draining = true;
  const effects: SchedulerEffect[] = [];
  for (const model of state.models.values()) {
    if (model.askedAt !== null) effects.push(noLoadWhileDraining(model));
    unask(model);
    for (const id of [...model.queue]) {
      const request = state.requests.get(id)!;
      effects.push(refuse(state, model, request, "cancelled", "The server is shutting down."));
    }
    if (model.phase === "ready" && runningOn(model) === 0) effects.push(startUnload(model));
  }
  return effects;
}

function onTick(state: SchedulerState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  for (const model of state.models.values()) {
    if (isIdle(model) && isOverdue(model, at)) {
      effects.push(startUnload(model));
    }
  }
  // Somebody may have lost patience by now.
  state.memoryFreed = true;
  return effects;
}

function isIdle(model: ModelState): boolean {
  return model.phase === "ready" && model.queue.length === 0 && runningOn(model) === 0;
}

function isOverdue(model: ModelState, at: number): boolean {
  return model.unloadAt !== null && model.unloadAt <= at;
}

/** The next time at which something is due by itself. */
function nextTimer(state: SchedulerState, at: number): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const model of state.models.values()) {
    if (isIdle(model) && model.unloadAt !== null) next = Math.min(next, model.unloadAt);
    if (!isWanted(model)) continue;
    if (at < model.coolUntil) next = Math.min(next, model.coolUntil);
    else if (model.waitsForMemory && at < impatientAt(state, model)) {
      next = Math.min(next, impatientAt(state, model));
    }
  }
  return Number.isFinite(next) ? next : null;
}

function modelOf(state: SchedulerState, terms: ModelTerms): ModelState {
  let model = state.models.get(terms.id);
  if (model === undefined) {
    model = {
      terms,
      phase: "unloaded",
      poolTokens: terms.contextTokens,
      slots: [],
      queue: [],
      reserved: 0,
      failures: 0,
      crashes: 0,
      failure: null,
      coolUntil: 0,
      unloadAt: null,
      placement: null,
      waitsForMemory: false,
      fitsAlone: false,
      askedAt: null,
      askedContext: null,
      madeRoom: [],
      yieldsTo: null,
      use: null,
      served: 0,
      usedAt: null,
      reloadMs: null,
      loadStartedAt: 0,
      load: 0,
    };
    state.models.set(terms.id, model);
  }
  return model;
}

function resetSlots(model: ModelState, count: number, at: number): void {
  model.reserved = 0;
  model.slots = Array.from({ length: count }, () => ({ request: null, outline: null, usedAt: at }));
}

/** Refuses a request at its arrival, before it is one of those that wait. */
function turnAway(
  request: number,
  code: ErrorCode,
  message: string,
  retryAfterSecs?: number,
): SchedulerEffect {
  return {
    type: "refuse",
    request,
    code,
    message,
    ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }),
  };
}

function withRequest(
  state: SchedulerState,
  id: number,
  work: (request: RequestState, model: ModelState) => SchedulerEffect[],
): SchedulerEffect[] {
  const request = state.requests.get(id);
  const model = request && state.models.get(request.model);
  return request && model ? work(request, model) : [];
}

function withModel(
  state: SchedulerState,
  id: string,
  work: (model: ModelState) => SchedulerEffect[],
): SchedulerEffect[] {
  const model = state.models.get(id);
  return model ? work(model) : [];
}
