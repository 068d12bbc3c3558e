import type { ErrorCode } from "../http/errors.js";
import { generationLimit, mustCount, reservation, withoutFloor } from "./context-need.js";
import { chooseSlot } from "./slot-choice.js";
import type { ModelState, RequestState, SchedulerEffect, SchedulerState } from "./state.js";

/** Requests that run on a model now. */
export function runningOn(model: ModelState): number {
  let running = 0;
  for (const slot of model.slots) if (slot.request !== null) running++;
  return running;
}

/** Starts what can start: a load for a model that is waited for, or the requests at the head of its queue. */
export function advance(state: SchedulerState, model: ModelState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  if (model.phase === "unloaded") {
    if (model.queue.length > 0 && at >= model.coolUntil) effects.push(startLoad(model));
    return effects;
  }
  while (model.phase === "ready" && model.queue.length > 0) {
    const request = state.requests.get(model.queue[0]!)!;
    if (!grantHead(state, model, request, at, effects)) break;
  }
  return effects;
}

/** Begins a load with the pool context that the model's state asks for. */
export function startLoad(model: ModelState): SchedulerEffect {
  model.phase = "loading";
  model.load++;
  model.unloadAt = null;
  return {
    type: "load",
    model: model.terms.id,
    contextTokens: model.poolTokens,
    request: model.queue[0] ?? null,
  };
}

/** Unloads a model; its slots hold nothing from now on. */
export function startUnload(model: ModelState): SchedulerEffect {
  model.phase = "unloading";
  model.unloadAt = null;
  return { type: "unload", model: model.terms.id };
}

/** Grants or refuses the request at the head of the queue; false when it has to wait, and the queue with it. */
function grantHead(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
  effects: SchedulerEffect[],
): boolean {
  if (request.counting) return false;
  const { need } = request;
  const slot = chooseSlot(model.slots, request.outline, at);
  if (slot < 0) return false;
  const refused = refuseTooLong(state, model, request);
  if (refused) {
    effects.push(refused);
    return true;
  }
  const most = model.terms.maxContextTokens;
  const whole = reservation(need, { tokens: model.poolTokens, slots: model.slots.length });
  const wanted = Math.min(whole, most);
  const fits = model.reserved + Math.min(wanted, model.poolTokens) <= model.poolTokens;
  const tooMuch = whole > model.poolTokens || !fits;
  if (mustCount(need) || (need.promptTokens === undefined && need.asked === undefined && tooMuch)) {
    request.counting = true;
    effects.push({ type: "count", request: request.id, model: model.terms.id });
    return false;
  }
  const room = Math.min(withoutFloor(need), most);
  if (room > model.poolTokens) {
    if (runningOn(model) > 0) return false;
    model.poolTokens = grownPool(model.poolTokens, room, most);
    effects.push(startUnload(model));
    return false;
  }
  if (!fits) return false;
  const reserved = Math.min(wanted, model.poolTokens);
  model.queue.shift();
  request.phase = "running";
  request.slot = slot;
  request.reserved = reserved;
  request.load = model.load;
  model.reserved += reserved;
  model.slots[slot]!.request = request.id;
  effects.push({
    type: "grant",
    request: request.id,
    model: model.terms.id,
    slot,
    contextTokens: reserved,
    maxTokens: generationLimit(need, reserved),
  });
  return true;
}

/** The pool doubled until the wanted context fits. */
function grownPool(pool: number, wanted: number, most: number): number {
  let grown = Math.max(1, pool);
  while (grown < wanted) grown *= 2;
  return Math.min(grown, most);
}

function refuseTooLong(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
): SchedulerEffect | null {
  const { need } = request;
  const most = model.terms.maxContextTokens;
  const room = Math.min(need.asked ?? most, most);
  if (need.asked !== undefined && need.asked > most) {
    return refuse(
      state,
      model,
      request,
      "invalid_request",
      `num_ctx is ${need.asked}, but ${model.terms.id} has a context of ${most} tokens at most.`,
      "num_ctx",
    );
  }
  if (need.promptTokens === undefined || need.promptTokens < room) return null;
  return refuse(
    state,
    model,
    request,
    "context_length_exceeded",
    `The prompt has ${need.promptTokens} tokens, but the context is ${room} tokens` +
      `${need.asked === undefined ? "" : " (num_ctx)"} and has to hold the answer as well.`,
    need.asked === undefined ? "messages" : "num_ctx",
  );
}

/** Takes a waiting request out of its queue and refuses it. */
export function refuse(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  code: ErrorCode,
  message: string,
  param?: string,
): SchedulerEffect {
  state.requests.delete(request.id);
  const place = model.queue.indexOf(request.id);
  if (place >= 0) model.queue.splice(place, 1);
  return {
    type: "refuse",
    request: request.id,
    code,
    message,
    ...(param === undefined ? {} : { param }),
  };
}
