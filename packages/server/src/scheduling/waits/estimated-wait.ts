import { reloadMs } from "../../memory/index.js";
import { expectedTokens } from "../decision/context-need.js";
import { planFor, residentsFor, wantedOf } from "../placement/plan-input.js";
import type { ModelState, SchedulerState } from "../state/state.js";
import { isWanted, mayBeStopped, runningOn, wantedTurn } from "../state/waiting.js";
import { countBefore } from "../turns/queue.js";
import { takesLane } from "../turns/turns.js";
import { foreseenStartMs } from "./foreseen-start.js";
import { Line } from "./line.js";
import { demandWith, type Newcomer } from "./newcomer.js";
import { remainingMs } from "./service-time.js";

/**
 * How long a request for the model that comes now will wait until it starts, in ms: for those before it, also
 * those of other models that share the processor's lane or the limit of running requests with it, for the
 * model's load, and for others to leave the memory that the load needs. Null where nothing tells: a model that is
 * busy and has never served, one whose load time is unknown, or background work that nobody has to make room
 * for. Never negative, always finite. Who comes later and goes before it is not foreseen.
 * @param holders what `holdersOf` gives
 */
export function estimatedWaitMs(
  state: SchedulerState,
  model: ModelState,
  request: Newcomer,
  at: number,
  holders: readonly string[] | null = holdersOf(state, model, request, at),
): number | null {
  const free = holders === null ? null : freeInMs(state, model, request.turn, holders, at);
  return free === null ? null : startInMs(state, model, request, free, at);
}

/** How long the load of a model takes, in ms: as the last one did, else told from its size; null when nothing tells. */
export function loadMsOf(state: SchedulerState, model: ModelState): number | null {
  const isWarm = model.phase === "loading" ? model.loadsWarm : model.pages.phase === "kept";
  const measured = isWarm ? model.warmReloadMs : model.reloadMs;
  if (measured !== null) return measured;
  const { memory } = model.terms;
  if (state.memory === null || memory === undefined) return null;
  const { artifactBytes } = memory;
  const deviceBytes = model.placement?.deviceBytes ?? [];
  const from = isWarm ? "tier2_pinned_ram" : "tier3_nvme_ssd";
  const { bandwidths } = state.memory.budgets;
  return reloadMs({ artifactBytes, deviceBytes }, from, undefined, bandwidths);
}

/** Until the model can run requests, those before it not counted; null when unknown. */
function freeInMs(
  state: SchedulerState,
  model: ModelState,
  turn: number,
  holders: readonly string[],
  at: number,
): number | null {
  if (model.phase === "ready") return yieldMs(state, model, turn, at);
  if (model.phase === "loading") return loadLeftMs(state, model, at);
  const load = loadMsOf(state, model);
  if (load === null || model.phase === "unloading") return load;
  return sum([Math.max(0, model.coolUntil - at), heldInMs(state, model, turn, holders, at), load]);
}

/**
 * Until a load that is under way is over, 0 when none is; null when nothing tells. One that takes longer than
 * expected takes a tenth more.
 */
function loadLeftMs(state: SchedulerState, model: ModelState, at: number): number | null {
  if (model.phase !== "loading") return 0;
  const load = loadMsOf(state, model);
  return load === null ? null : Math.max(load - (at - model.loadStartedAt), load / 10);
}

/** The time for which a loaded model lets another go first, in ms: both are loaded anew for it. */
function yieldMs(
  state: SchedulerState,
  model: ModelState,
  turn: number,
  at: number,
): number | null {
  const other = model.yieldsTo === null ? undefined : state.models.get(model.yieldsTo);
  if (other === undefined || !isWanted(other) || turn <= wantedTurn(state, other)) return 0;
  const parts = [
    busyMs(state, model, at, Number.NEGATIVE_INFINITY),
    loadMsOf(state, other),
    busyMs(state, other, at, turn),
    loadMsOf(state, model),
  ];
  return sum(parts);
}

/** The lines of other models whose requests may have to be let in before the model's. */
function rivalsOf(
  state: SchedulerState,
  model: ModelState,
  isInLane: boolean,
  isLimited: boolean,
  at: number,
): Line[] {
  const rivals: Line[] = [];
  for (const other of state.models.values()) {
    const { phase } = other;
    if (other === model || (phase !== "ready" && phase !== "loading")) continue;
    const takes = isInLane && takesLane(state, other);
    if (!(takes || isLimited) || (other.queue.length === 0 && runningOn(other) === 0)) continue;
    const freeAt = loadLeftMs(state, other, at) ?? Number.POSITIVE_INFINITY;
    const loadMs = loadMsOf(state, other);
    rivals.push(new Line(state, other, { at, freeAt, takesLane: takes, loadMs }));
  }
  return rivals;
}

/**
 * Whether the model's requests take the processor's lane. Of one that is not loaded where there are devices that
 * is not known, and taken not to be so.
 */
function willTakeLane(state: SchedulerState, model: ModelState): boolean {
  if (model.placement !== null) return takesLane(state, model);
  const { limits, memory } = state;
  if (!limits.lane || model.terms.heavy !== true || model.terms.memory === undefined) return false;
  return memory !== null && memory.budgets.devices.length === 0;
}

/** When a request that comes now starts, in ms from now, on a model that can run requests in `freeAt` ms. */
function startInMs(
  state: SchedulerState,
  model: ModelState,
  request: Newcomer,
  freeAt: number,
  at: number,
): number | null {
  const { maxRunning } = state.limits;
  const isLimited = maxRunning !== null && state.running + state.queued >= maxRunning;
  const isInLane = willTakeLane(state, model);
  const rivals =
    isInLane || isLimited ? rivalsOf(state, model, isInLane, isLimited, at) : NO_RIVALS;
  const own = new Line(state, model, {
    at,
    freeAt,
    takesLane: isInLane && rivals.length > 0,
    loadMs: loadMsOf(state, model),
    last: request,
  });
  // Who has come at the same time, but before it, goes first.
  const lines = rivals.length === 0 ? [own] : [...rivals, own];
  return foreseenStartMs(lines, request, isLimited ? maxRunning : null);
}

const NO_RIVALS: readonly Line[] = [];

/**
 * How long those that run on a model and those in its queue whose turn is before `turn` keep it busy, in ms, spread
 * over its slots; null when nothing tells.
 */
function busyMs(state: SchedulerState, model: ModelState, at: number, turn: number): number | null {
  let work = 0;
  let longest = 0;
  for (const slot of model.slots) {
    if (slot.request === null) continue;
    const { size, grantedAt } = state.requests.get(slot.request)!;
    const left = remainingMs(model.times, size, at - grantedAt);
    if (left === null) return null;
    longest = Math.max(longest, left);
    work += left;
  }
  const before = model.queue.length === 0 ? 0 : countBefore(state, model, turn);
  if (before === 0) return longest;
  const { all } = model.times;
  if (all === null) return null;
  work += all.mean * before;
  return Math.max(longest, all.mean, work / Math.max(1, model.terms.slots));
}

/**
 * Who is in use, and has to end before there is memory for a model that is not loaded; nobody when it fits, or
 * never will; null when others need not go for it, however long it waits. Those that were found for an earlier
 * request hold until they have ended.
 */
export function holdersOf(
  state: SchedulerState,
  model: ModelState,
  request: Newcomer,
  at: number,
): readonly string[] | null {
  if (model.phase !== "unloaded" || state.memory === null || model.terms.memory === undefined) {
    return [];
  }
  const demand = demandWith(model, request);
  if (isWanted(model)) {
    if (!model.waitsForMemory) return [];
    const { heldBy } = model;
    if (heldInMs(state, model, request.turn, heldBy, at) !== 0) return heldBy;
  }
  const { memory } = state;
  const least = Math.max(1, Math.min(model.poolTokens, expectedTokens(request.need)));
  const wanted = wantedOf(model, model.terms.memory, least, demand);
  const planned = (everybodyLeaves: boolean) => {
    const residents = residentsFor(state, model, at, demand, everybodyLeaves);
    return planFor(state, memory, wanted, residents, at);
  };
  if (planned(false).accepted) return [];
  const later = planned(true);
  if (later.accepted) return later.victims.map((victim) => victim.model);
  return demand === "any" ? [] : null;
}

/**
 * Until those that hold the model's memory have ended, and those that wait for memory and come before it, in ms.
 * Those in the processor's lane end one after the other.
 */
function heldInMs(
  state: SchedulerState,
  model: ModelState,
  turn: number,
  holders: readonly string[],
  at: number,
): number | null {
  if (holders.length === 0) return 0;
  let held: number | null = 0;
  let inLane: number | null = 0;
  for (const id of holders) {
    const holder = state.models.get(id);
    if (holder === undefined || holder.placement === null) continue;
    if (mayBeStopped(state, holder)) continue;
    const until = sum([loadLeftMs(state, holder, at), busyMs(state, holder, at, turn)]);
    if (takesLane(state, holder)) inLane = sum([inLane, until]);
    else held = held === null || until === null ? null : Math.max(held, until);
  }
  held = held === null || inLane === null ? null : Math.max(held, inLane);
  const before = Math.min(turn, wantedTurn(state, model));
  for (const other of state.models.values()) {
    if (other === model || !other.waitsForMemory || wantedTurn(state, other) >= before) continue;
    held = sum([held, loadMsOf(state, other), busyMs(state, other, at, turn)]);
  }
  return held;
}

/** The sum of some times; null when one is unknown. */
function sum(parts: readonly (number | null)[]): number | null {
  let total = 0;
  for (const part of parts) {
    if (part === null) return null;
    total += part;
  }
  return total;
}
