import { reloadMs } from "../memory/index.js";
import { expectedTokens, floorOf } from "./context-need.js";
import { costsOf, residentsFor, wantedOf } from "./plan-input.js";
import { expectedHoldMs, remainingMs } from "./service-time.js";
import type { ContextNeed, ModelState, SchedulerState } from "./state.js";
import { isWanted, wantedSince } from "./waiting.js";

/**
 * How long a request for the model that comes now will wait until it starts, in ms: for those before it, for
 * the model's load, and for others to leave the memory that the load needs. Null where nothing tells: a model
 * that is busy and has never served, or one whose load time is unknown. Never negative, always finite.
 * @param holders what `holdersOf` gives
 */
export function estimatedWaitMs(
  state: SchedulerState,
  model: ModelState,
  need: ContextNeed,
  at: number,
  holders: readonly string[] = holdersOf(state, model, need, at),
): number | null {
  const free = freeInMs(state, model, holders, at);
  return free === null ? null : turnInMs(state, model, need, free, at);
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
  holders: readonly string[],
  at: number,
): number | null {
  if (model.phase === "ready") return yieldMs(state, model, at);
  const load = loadMsOf(state, model);
  if (load === null) return null;
  switch (model.phase) {
    case "loading":
      return loadLeftMs(model, load, at);
    case "unloading":
      return load;
    case "unloaded":
      return sum([Math.max(0, model.coolUntil - at), heldInMs(state, model, holders, at), load]);
  }
}

/** One that takes longer than expected takes a tenth more. */
function loadLeftMs(model: ModelState, load: number, at: number): number {
  return Math.max(load - (at - model.loadStartedAt), load / 10);
}

/** The time for which a loaded model lets another go first: both are loaded anew for it. */
function yieldMs(state: SchedulerState, model: ModelState, at: number): number | null {
  const other = model.yieldsTo === null ? undefined : state.models.get(model.yieldsTo);
  if (other === undefined || !isWanted(other)) return 0;
  const parts = [
    busyMs(state, model, at, "running"),
    loadMsOf(state, other),
    busyMs(state, other, at, "all"),
    loadMsOf(state, model),
  ];
  return sum(parts);
}

interface Running {
  /** From now, in ms; null when unknown. */
  endsIn: number | null;
  tokens: number;
}

/** When a request that comes now starts, in ms from now, on a model that can run requests in `free` ms. */
function turnInMs(
  state: SchedulerState,
  model: ModelState,
  need: ContextNeed,
  free: number,
  at: number,
): number | null {
  const { terms, times, queue } = model;
  const isReady = model.phase === "ready";
  const slots = Math.max(1, isReady ? model.slots.length : terms.slots);
  const running = isReady ? runningOf(state, model, at) : [];
  let pool = model.poolTokens;
  let promised = isReady ? model.reserved : 0;
  let start = free;
  for (let ahead = 0; ahead <= queue.length; ahead++) {
    const request = ahead === queue.length ? null : state.requests.get(queue[ahead]!)!;
    const tokens = likelyTokens(request?.need ?? need);
    const room = Math.min(tokens, terms.maxContextTokens);
    const grows = room > pool;
    const least = (request?.need ?? need).asked === undefined ? floorOf(pool, slots) : 0;
    const wanted = Math.min(pool, Math.max(tokens, least));
    while (running.length > 0) {
      if (!grows && running.length < slots && promised + wanted <= pool) break;
      const first = takeFirst(running);
      if (first.endsIn === null) return null;
      start = Math.max(start, first.endsIn);
      promised -= first.tokens;
    }
    if (grows) {
      // The model has to be idle for that, and is loaded anew.
      const load = loadMsOf(state, model);
      if (load === null) return null;
      start += load;
      while (pool < room) pool = Math.min(Math.max(1, pool) * 2, terms.maxContextTokens);
    }
    if (request === null) break;
    const hold = expectedHoldMs(times, request.size);
    const held = Math.min(pool, Math.max(tokens, least));
    running.push({ endsIn: hold === null ? null : start + hold, tokens: held });
    promised += held;
  }
  return start;
}

function runningOf(state: SchedulerState, model: ModelState, at: number): Running[] {
  const running: Running[] = [];
  for (const slot of model.slots) {
    if (slot.request === null) continue;
    const { size, grantedAt, reserved } = state.requests.get(slot.request)!;
    running.push({ endsIn: remainingMs(model.times, size, at - grantedAt), tokens: reserved });
  }
  return running;
}

/** Takes out the one that ends first; an unknown end comes last. */
function takeFirst(running: Running[]): Running {
  let first = 0;
  for (let i = 1; i < running.length; i++) {
    if (endOf(running[i]!) < endOf(running[first]!)) first = i;
  }
  const taken = running[first]!;
  running[first] = running.at(-1)!;
  running.pop();
  return taken;
}

function endOf({ endsIn }: Running): number {
  return endsIn ?? Number.POSITIVE_INFINITY;
}

/** Bytes of text that a token usually stands for; a bound on the prompt takes one. */
const BYTES_PER_TOKEN = 3;

/** Tokens that a request will turn out to need, by its count where there is one. */
function likelyTokens({ asked, promptTokens, promptBound, maxTokens }: ContextNeed): number {
  return asked ?? (promptTokens ?? Math.ceil(promptBound / BYTES_PER_TOKEN)) + maxTokens;
}

/** How long a model's requests keep it busy, in ms, spread over its slots; null when nothing tells. */
function busyMs(
  state: SchedulerState,
  model: ModelState,
  at: number,
  which: "running" | "all",
): number | null {
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
  if (which === "running" || model.queue.length === 0) return longest;
  const { all } = model.times;
  if (all === null) return null;
  work += all.mean * model.queue.length;
  return Math.max(longest, all.mean, work / Math.max(1, model.terms.slots));
}

/**
 * Who is in use, and has to end before there is memory for a model that is not loaded; nobody when it fits, or
 * never will. Those that were found for an earlier request hold until they have ended.
 */
export function holdersOf(
  state: SchedulerState,
  model: ModelState,
  need: ContextNeed,
  at: number,
): readonly string[] {
  if (model.phase !== "unloaded" || state.memory === null || model.terms.memory === undefined) {
    return [];
  }
  if (isWanted(model)) {
    if (!model.waitsForMemory) return [];
    if (heldInMs(state, model, model.heldBy, at) !== 0) return model.heldBy;
  }
  const { budgets, plan } = state.memory;
  const least = Math.max(1, Math.min(model.poolTokens, expectedTokens(need)));
  const wanted = wantedOf(model, model.terms.memory, least, "any");
  const planned = (everybodyLeaves: boolean) => {
    const residents = residentsFor(state, model, at, "any", everybodyLeaves);
    return plan(budgets, residents, wanted, costsOf(state, budgets, wanted, residents, at));
  };
  if (planned(false).accepted) return [];
  const later = planned(true);
  return later.accepted ? later.victims.map((victim) => victim.model) : [];
}

/** Until those that hold the model's memory have ended, and those that wait for memory longer than it. */
function heldInMs(
  state: SchedulerState,
  model: ModelState,
  holders: readonly string[],
  at: number,
): number | null {
  if (holders.length === 0) return 0;
  let held: number | null = 0;
  for (const id of holders) {
    const holder = state.models.get(id);
    if (holder === undefined || holder.placement === null) continue;
    const load = holder.phase === "loading" ? loadMsOf(state, holder) : 0;
    const left = load === null || load === 0 ? load : loadLeftMs(holder, load, at);
    const until = sum([left, busyMs(state, holder, at, "all")]);
    held = held === null || until === null ? null : Math.max(held, until);
  }
  const since = wantedSince(state, model);
  for (const other of state.models.values()) {
    if (other === model || !other.waitsForMemory || wantedSince(state, other) >= since) continue;
    held = sum([held, loadMsOf(state, other), busyMs(state, other, at, "all")]);
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
