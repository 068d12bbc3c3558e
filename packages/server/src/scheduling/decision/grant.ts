import type { ErrorCode } from "../../http/errors.js";
import type { MemoryTier, Placement } from "../../memory/index.js";
import { isClearing } from "../placement/clearing.js";
import { usualContext } from "../state/model-state.js";
import type {
  EvictedFor,
  ModelState,
  RequestState,
  SchedulerEffect,
  SchedulerState,
} from "../state/state.js";
import { firstOf, isWanted, runningOn, wantedTurn } from "../state/waiting.js";
import { dequeue } from "../turns/queue.js";
import { bar, barredBy, takesLane } from "../turns/turns.js";
import { score } from "../waits/wait-scores.js";
import { generationLimit, mustCount, reservation, withoutFloor } from "./context-need.js";
import { grownPool, whyNotGrown } from "./growth.js";
import { chooseSlot } from "./slot-choice.js";

/** Lets the requests at the head of a loaded model's queue in. */
export function advance(state: SchedulerState, model: ModelState, at: number): SchedulerEffect[] {
  const effects: SchedulerEffect[] = [];
  while (model.phase === "ready") {
    const head = firstOf(state, model);
    if (head === undefined || !grantHead(state, model, head, at, effects)) break;
  }
  return effects;
}

/** Begins a load as it was planned, or with the pool context that the model's state asks for. */
export function startLoad(
  model: ModelState,
  placement: Placement | null,
  at: number,
): SchedulerEffect {
  model.phase = "loading";
  model.loadsAhead = false;
  model.loadsWarm = model.pages.phase === "kept";
  model.loadStartedAt = at;
  model.load++;
  model.unloadAt = null;
  model.askedAt = null;
  model.askedContext = null;
  model.waitsForMemory = false;
  model.placement = placement;
  if (placement !== null) model.poolTokens = placement.contextTokens;
  const evicted = model.madeRoom;
  model.madeRoom = [];
  return {
    type: "load",
    model: model.terms.id,
    contextTokens: model.poolTokens,
    request: model.queue[0] ?? null,
    placement,
    evicted,
  };
}

/** Forgets that somebody wants the model loaded without a request, and with which context. */
export function unask(model: ModelState): void {
  model.askedAt = null;
  if (model.askedContext === null) return;
  model.askedContext = null;
  model.waitsForMemory = false;
  model.fitsAlone = false;
  model.poolTokens = usualContext(model.terms);
}

/** Unloads a model; its slots hold nothing from now on. To tier 2: its weights are kept once the engine has gone. */
export function startUnload(
  model: ModelState,
  evicted: EvictedFor | null = null,
  toTier: MemoryTier = "tier3_nvme_ssd",
): SchedulerEffect {
  model.pages.isNext = toTier === "tier2_pinned_ram";
  model.phase = "unloading";
  model.unloadAt = null;
  model.yieldsTo = null;
  return { type: "unload", model: model.terms.id, evicted };
}

/** Grants or refuses the request at the head of the queue; false when it has to wait, and the queue with it. */
function grantHead(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  at: number,
  effects: SchedulerEffect[],
): boolean {
  if (request.counting || makesRoom(state, model, request)) return false;
  if (isClearing(state, model)) return false;
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
    const grown = grownPool(model.poolTokens, room, most);
    const hindrance = whyNotGrown(state, model, { least: room, wanted: grown }, at);
    if (hindrance !== null) {
      effects.push(refuse(state, model, request, hindrance.code, hindrance.message));
      return true;
    }
    model.poolTokens = grown;
    model.fitsAlone = false;
    state.parking.restarts.add(model.terms.id);
    effects.push(startUnload(model));
    return false;
  }
  if (!fits) return false;
  const by = barredBy(state, model, request, at);
  if (by !== null) {
    bar(state, model, by);
    return false;
  }
  const reserved = Math.min(wanted, model.poolTokens);
  dequeue(state, model, request.id);
  request.phase = "running";
  state.running++;
  if (takesLane(state, model)) state.inLane.add(request.id);
  request.slot = slot;
  request.reserved = reserved;
  request.load = model.load;
  request.grantedAt = at;
  if (request.estimatedWaitMs !== null) {
    score(model.scores, request.estimatedWaitMs, at - request.arrivedAt);
  }
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

/** Whether a request has to let one for another model go first, which waits for this one's memory. */
function makesRoom(state: SchedulerState, model: ModelState, request: RequestState): boolean {
  if (model.yieldsTo === null) return false;
  const other = state.models.get(model.yieldsTo);
  if (other === undefined || !isWanted(other)) return false;
  return request.turn > wantedTurn(state, other);
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
  const least = Math.min(1, need.maxTokens);
  if (need.promptTokens === undefined || need.promptTokens + least <= room) return null;
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

/** Refuses all that wait for a model. */
export function refuseAll(
  state: SchedulerState,
  model: ModelState,
  code: ErrorCode,
  message: string,
): Refused[] {
  return model.queue
    .map((id) => state.requests.get(id)!)
    .map((request) => refuse(state, model, request, code, message));
}

type Refused = Extract<SchedulerEffect, { type: "refuse" }>;

/** Takes a waiting request out of its queue and refuses it. */
export function refuse(
  state: SchedulerState,
  model: ModelState,
  request: RequestState,
  code: ErrorCode,
  message: string,
  param?: string,
): Refused {
  dequeue(state, model, request.id);
  state.requests.delete(request.id);
  // It may have been the claim that kept the model.
  state.memoryFreed = true;
  return {
    type: "refuse",
    request: request.id,
    code,
    message,
    ...(param === undefined ? {} : { param }),
  };
}
