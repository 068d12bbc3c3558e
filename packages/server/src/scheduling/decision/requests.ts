import type { ErrorCode } from "../../http/errors.js";
import { withRequest as withOneMore } from "../../memory/index.js";
import { prefetch } from "../placement/prefetch.js";
import { modelOf } from "../state/model-state.js";
import type {
  Deadline,
  ModelState,
  RequestState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { destinationOf } from "../state/tier-of.js";
import { runningOn } from "../state/waiting.js";
import { demandOf, noteUse } from "../turns/demand.js";
import { enqueue } from "../turns/queue.js";
import { isQueueFull } from "../turns/turns.js";
import { USUAL_WORKLOAD } from "../turns/workload.js";
import { estimatedWaitMs, holdersOf } from "../waits/estimated-wait.js";
import { newcomer } from "../waits/newcomer.js";
import { learn } from "../waits/service-time.js";
import { advance, refuse, startUnload } from "./grant.js";
import { isIdle, isOverdue } from "./lifetime.js";
import { coolingDown } from "./loads.js";
import { forgetOldLimit } from "./pool-limit.js";
import { loadingMs, watchTimeout } from "./queue-timeout.js";

const TOO_MANY_WAIT = "Too many requests wait already; try again shortly.";

export function onArrived(
  state: SchedulerState,
  event: Extract<SchedulerEvent, { type: "arrived" }>,
): SchedulerEffect[] {
  const { request: id, terms, at } = event;
  if (state.draining) {
    return [turnAway(id, "shutting_down", "The server is shutting down.")];
  }
  const model = modelOf(state, terms);
  forgetOldLimit(model, at);
  model.use = withOneMore(model.use, at);
  if (model.phase === "unloaded" && at < model.coolUntil) {
    const { code, message, secs } = coolingDown(model, at);
    return [turnAway(id, code, message, secs)];
  }
  const workload = event.workload ?? USUAL_WORKLOAD;
  const coming = newcomer(event.need, at, workload, event.mayEvict);
  const holders = holdersOf(state, model, coming, at);
  model.heldBy = holders ?? [];
  const estimate = estimatedWaitMs(state, model, coming, at, holders);
  if (event.deadline !== undefined && estimate !== null && estimate > event.deadline.ms) {
    // Whoever tries again later is to find it loaded, where that hurts nobody.
    if (model.phase === "unloaded") prefetch(state, terms, null);
    return [unmeetable(id, model, estimate, event.deadline)];
  }
  if (isQueueFull(state, model)) {
    return [turnAway(id, "model_busy", TOO_MANY_WAIT)];
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
  const request: RequestState = {
    id,
    model: terms.id,
    need: { ...event.need },
    outline: event.outline,
    arrivedAt: at,
    workload,
    turn: coming.turn,
    mayEvict: coming.mayEvict,
    queueTimeoutMs: event.queueTimeoutMs ?? state.limits.queueTimeoutMs,
    ownTimeout: event.queueTimeoutMs !== undefined,
    timeoutAt: null,
    loadingBefore: loadingMs(model, at),
    keepAliveMs: event.keepAliveMs,
    size: coming.size,
    estimatedWaitMs: estimate,
    grantedAt: at,
    phase: "queued",
    counting: false,
    slot: -1,
    reserved: 0,
    load: -1,
  };
  state.requests.set(id, request);
  noteUse(model, workload, at);
  const demand = demandOf(model);
  enqueue(state, model, request);
  // More may be done for it now than when it was planned last.
  if (demandOf(model) !== demand) model.waitsForMemory = false;
  watchTimeout(state, model, request, at);
  const effects: SchedulerEffect[] = [
    { type: "admitted", request: id, estimatedWaitMs: estimate },
    ...advance(state, model, at),
  ];
  if (request.phase === "queued" && state.queued > (state.limits.maxQueue ?? state.queued)) {
    effects.push(refuse(state, model, request, "model_busy", TOO_MANY_WAIT));
  }
  return effects;
}

export function onMeasured(
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

export function onCancelled(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
): SchedulerEffect[] {
  if (request.phase === "running") return [];
  const effect = refuse(state, model, request, "cancelled", "The client closed the connection.");
  // It may have been the claim that kept the model, or the one that another made room for.
  state.memoryFreed = true;
  return [effect, ...afterUse(state, model, at)];
}

export function onFinished(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  event: Extract<SchedulerEvent, { type: "finished" }>,
): SchedulerEffect[] {
  if (request.phase !== "running") return [];
  state.requests.delete(request.id);
  state.running--;
  state.inLane.delete(request.id);
  model.usedAt = event.at;
  noteUse(model, request.workload, event.at);
  if (event.answered) {
    model.served++;
    model.crashes = 0;
  }
  if (holdsSlot(model, request)) {
    model.reserved -= request.reserved;
    // One that nothing was done for says nothing of the next.
    if (event.answered || event.outline !== null) {
      learn(model.times, request.size, event.at - request.grantedAt);
    }
    const slot = model.slots[request.slot]!;
    slot.request = null;
    if (event.outline !== null) {
      slot.outline = event.outline;
      slot.tokens = event.tokens ?? 0;
    }
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
  if (isIdle(model) && (state.draining || isOverdue(model, at))) {
    return [startUnload(model, null, destinationOf(state, model))];
  }
  return advance(state, model, at);
}

/** Refuses a request that would start too late. */
function unmeetable(
  request: number,
  model: ModelState,
  estimateMs: number,
  deadline: Deadline,
): SchedulerEffect {
  const message =
    `A request for ${model.terms.id} would wait about ${secs(estimateMs)} until it starts, longer than ` +
    `the ${secs(deadline.ms)} of ${deadline.by}. Try again later, or allow more.`;
  const late = estimateMs - deadline.ms;
  return turnAway(request, "deadline_unmeetable", message, Math.max(1, Math.ceil(late / 1_000)));
}

function secs(ms: number): string {
  return `${Number((ms / 1_000).toPrecision(2))} s`;
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
