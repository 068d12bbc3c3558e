import { emptyIdleSlots } from "../parking/idle-slots.js";
import { onEngineEnded, onEngineLoaded, onParkingEvent } from "../parking/restore.js";
import { settleParking } from "../parking/save.js";
import {
  afterEngine,
  onKeepAsked,
  onKept,
  onKeptLost,
  onReleased,
} from "../placement/kept-pages.js";
import { onCleared, onRanOutOfMemory } from "../placement/out-of-memory.js";
import { settleMemory } from "../placement/place.js";
import { prefetch, settlePrefetches } from "../placement/prefetch.js";
import type {
  ModelState,
  RequestState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { settleTurns } from "../turns/settle-turns.js";
import { advance, refuse, unask } from "./grant.js";
import { nextTimer, onTick } from "./lifetime.js";
import { gone, onDrain, onLoadAsked, onLoadFailed, onUnloadAsked } from "./loads.js";
import { onOffloadSet } from "./moe-offload.js";
import { onPinAsked } from "./pins.js";
import { onArrived, onCancelled, onFinished, onMeasured } from "./requests.js";

/**
 * The scheduler: takes one event, changes the state it owns in place and returns what must be done.
 * No I/O, no clock, no randomness; the same events give the same effects.
 */
export function decide(state: SchedulerState, event: SchedulerEvent): SchedulerEffect[] {
  // The timer rang, or might as well have: it is set again where something is due later.
  if (event.type === "tick") state.timerAt = null;
  const prefetches = state.prefetches.size;
  const effects = react(state, event);
  const mayFit = state.memoryFreed || state.prefetches.size > prefetches;
  do effects.push(...settleMemory(state, event.at), ...settleTurns(state, event.at));
  while (state.memoryFreed);
  effects.push(...settlePrefetches(state, event.at, mayFit));
  settleParking(state, effects);
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
      return withRequest(state, event.request, (request, model) =>
        onCancelled(state, model, request, event.at),
      );
    case "finished":
      return withRequest(state, event.request, (request, model) =>
        onFinished(state, model, request, event),
      );
    case "loadAsked":
      return onLoadAsked(state, event);
    case "nextTold":
      return withRequest(state, event.during, (request) => {
        if (request.phase === "running") prefetch(state, event.terms, request.id);
        return [];
      });
    case "loadUnasked":
      return withModel(state, event.model, (model) => {
        if (model.phase === "loading") return [];
        unask(model);
        // Others may have made room for it.
        state.memoryFreed = true;
        return [];
      });
    case "loaded":
      return withModel(state, event.model, (model) => onEngineLoaded(state, model, event));
    case "loadFailed":
      return withModel(state, event.model, (model) =>
        onLoadFailed(state, model, event.code, event.message, event.at),
      );
    case "unloaded":
      return withModel(state, event.model, (model) => {
        gone(state, model, event.at);
        return [...afterEngine(state, model), ...onCleared(state, model, event.at)];
      });
    case "engineExited":
      return withModel(state, event.model, (model) => onEngineEnded(state, model, event.at));
    case "unloadAsked":
      return withModel(state, event.model, (model) => onUnloadAsked(model));
    case "offloadSet":
      return onOffloadSet(state, event);
    case "keepAsked":
      return onKeepAsked(state, event);
    case "kept":
      return withModel(state, event.model, (model) => onKept(state, model, event));
    case "keepFailed":
    case "keptLost":
      return withModel(state, event.model, (model) => onKeptLost(state, model, event));
    case "released":
      return withModel(state, event.model, (model) => onReleased(state, model));
    case "pinAsked":
      return onPinAsked(state, event);
    case "ranOutOfMemory":
      return withModel(state, event.model, (model) => onRanOutOfMemory(state, model));
    case "memoryMeasured":
      state.memory = event.memory;
      state.memoryFreed = true;
      for (const model of state.models.values()) model.fitsAlone = false;
      return [];
    case "drainAsked":
      return onDrain(state);
    case "tick":
      return [...emptyIdleSlots(state, event.at), ...onTick(state, event.at)];
    case "parked":
    case "parkFailed":
    case "unparked":
    case "unparkFailed":
    case "parkingSet":
    case "parkedDropped":
      return onParkingEvent(state, event);
  }
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
