import { expect } from "vitest";
import { decide } from "../decision/decide.js";
import type { Applies } from "../decision/moe-offload.js";
import type { ParkingOptions } from "../parking/terms.js";
import { isClearing } from "../placement/clearing.js";
import type { MemoryState, MemoryTerms } from "../state/memory-terms.js";
import {
  createState,
  type EvictedFor,
  type ModelState,
  type ModelTerms,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerLimits,
  type SchedulerState,
} from "../state/state.js";
import { impatientAt, runningOn, wantedTurn } from "../state/waiting.js";
import { demandOf, isSpared } from "../turns/demand.js";
import { takesLane } from "../turns/turns.js";
import type { Workload } from "../turns/workload.js";

type Keep = Extract<SchedulerEffect, { type: "keep" }>;

/** Each kind of event without its time. */
type Untimed<E> = E extends SchedulerEvent ? Omit<E, "at"> : never;

/** Much cheaper than an expectation, for what is looked at after every event. */
export function holds(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`does not hold: ${what}`);
}

/** How long a load may take, ms: one that hangs ends then. */
const LOAD_LIMIT_MS = 20_000;

/** Work that was begun and has not ended. */
interface Pending {
  effect: SchedulerEffect;
  at: number;
  /** It hangs, and is ended at this time. */
  hangsUntil?: number;
}

/** Runs the scheduler the way its shell does, with work that ends when the test says so. */
export class World {
  readonly state: SchedulerState;
  at = 0;
  nextRequest = 1;
  readonly open = new Set<number>();
  readonly running = new Map<number, string>();
  readonly ended = new Map<number, string>();
  /** The waits that were told at arrival. */
  readonly estimates = new Map<number, number | null>();
  readonly pending: Pending[] = [];
  timer: number | null = null;
  /** Of the last refusal. */
  retryAfterSecs: number | null = null;

  /** Files of parked conversations that were written and not removed. */
  readonly files = new Set<string>();
  /** Models whose conversations came back. */
  restores = 0;
  #nextFile = 1;
  readonly #saving = new Set<string>();
  /** Where somebody has said that a model's experts run. */
  readonly #offloads = new Map<string, MemoryTerms["moeOffload"]>();
  #offloadTold: Applies[] = [];

  constructor(
    memory: MemoryState | null = null,
    limits: Partial<SchedulerLimits> = {},
    parking?: ParkingOptions,
  ) {
    this.state = createState(4, memory, limits, parking);
  }

  send(event: Untimed<SchedulerEvent>): void {
    const effects = decide(this.state, { ...event, at: this.at } as SchedulerEvent);
    for (const effect of effects) this.#take(effect);
    this.#checkInvariants();
  }

  #take(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "grant": {
        expect(this.estimates.has(effect.request)).toBe(true);
        expect(this.open.has(effect.request)).toBe(true);
        expect(this.running.has(effect.request)).toBe(false);
        expect(this.state.models.get(effect.model)?.phase).toBe("ready");
        expect(effect.maxTokens).toBeGreaterThan(0);
        expect(isClearing(this.state, this.state.models.get(effect.model)!)).toBe(false);
        this.#checkLane(effect.request);
        this.running.set(effect.request, effect.model);
        break;
      }
      case "refuse":
        expect(this.open.delete(effect.request)).toBe(true);
        expect(this.running.has(effect.request)).toBe(false);
        this.ended.set(effect.request, effect.code);
        this.retryAfterSecs = effect.retryAfterSecs ?? null;
        break;
      case "admitted": {
        const { estimatedWaitMs } = effect;
        if (estimatedWaitMs !== null) {
          expect(estimatedWaitMs).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(estimatedWaitMs)).toBe(true);
        }
        this.estimates.set(effect.request, estimatedWaitMs);
        break;
      }
      case "timer":
        this.timer = effect.at;
        break;
      case "keep":
        expect(this.#pendingOn(effect.model, "release")).toBe(0);
        this.pending.push({ effect, at: this.at });
        break;
      case "release":
        expect(this.#pendingOn(effect.model, "release")).toBe(0);
        this.pending.push({ effect, at: this.at });
        break;
      case "discard":
        for (const file of effect.files) expect(this.files.delete(file)).toBe(true);
        break;
      case "offloadTold":
        this.#offloadTold.push(effect.applies);
        break;
      case "erase":
        // It may go at the same moment.
        expect(this.state.models.get(effect.model)?.phase).toMatch(/^(ready|unloading)$/);
        break;
      case "park":
        if (effect.evicted !== null) this.#checkEviction(effect.model, effect.evicted);
        this.#saving.add(effect.model);
        this.pending.push({ effect, at: this.at });
        break;
      case "unload":
        // A load that is stopped does not end otherwise.
        this.#drop("load", effect.model);
        // Of one whose conversations were saved it was settled before.
        if (!this.#saving.delete(effect.model) && effect.evicted !== null)
          this.#checkEviction(effect.model, effect.evicted);
        this.pending.push({ effect, at: this.at });
        break;
      default:
        this.pending.push({ effect, at: this.at });
    }
  }

  #drop(type: SchedulerEffect["type"], model: string): void {
    const { pending } = this;
    const place = pending.findIndex(
      ({ effect }) => effect.type === type && "model" in effect && effect.model === model,
    );
    if (place >= 0) pending.splice(place, 1);
  }

  /** Only an impatient one takes the memory of a model that is asked for, and only from later requests. */
  #checkEviction(victim: string, { forModel, reason }: EvictedFor): void {
    const leaving = this.state.models.get(victim)!;
    expect(leaving.pinned).toBe(false);
    expect(leaving.slots.every((slot) => slot.request === null)).toBe(true);
    if (reason === "device_out_of_memory") return;
    // Nobody waits for a model that is loaded ahead.
    if (this.state.prefetches.has(forModel)) return;
    const demand = demandOf(this.state.models.get(forModel)!);
    expect(demand).not.toBe("nobody");
    if (demand === "unspared") expect(isSpared(leaving, this.at)).toBe(false);
    const head = leaving.queue[0];
    if (head === undefined) return;
    const wanted = this.state.models.get(forModel)!;
    expect(this.state.requests.get(head)!.turn).toBeGreaterThan(wantedTurn(this.state, wanted));
    expect(this.at).toBeGreaterThanOrEqual(impatientAt(this.state, wanted));
  }

  /** Nothing starts in the lane beside what another model began in it a moment ago. */
  #checkLane(request: number): void {
    const model = this.state.models.get(this.state.requests.get(request)!.model)!;
    if (!takesLane(this.state, model)) return;
    for (const id of this.running.keys()) {
      const beside = this.state.requests.get(id)!;
      const { placement } = this.state.models.get(beside.model)!;
      if (beside.model === model.terms.id || !this.state.inLane.has(id) || !placement) continue;
      expect(this.at - beside.grantedAt).toBeGreaterThanOrEqual(10_000);
    }
  }

  #checkCounts(): void {
    const { state } = this;
    const { maxRunning, maxQueue } = state.limits;
    let running = 0;
    for (const { phase } of state.requests.values()) if (phase === "running") running++;
    holds(state.running === running, "running requests are counted");
    holds(state.queued === state.requests.size - running, "waiting requests are counted");
    holds(running <= (maxRunning ?? running), "no more run than may");
    holds(state.queued <= (maxQueue ?? state.queued), "no more wait than may");
    for (const id of state.inLane) holds(state.requests.get(id)?.phase === "running", "lane");
    for (const model of state.held) {
      const { barredBy, phase, queue } = model;
      holds(barredBy !== null && phase === "ready" && queue.length > 0, "who is barred could run");
    }
  }

  #checkInvariants(): void {
    this.checkMemory();
    this.#checkCounts();
    for (const model of this.state.models.values()) this.#checkModel(model);
  }

  #checkModel(model: ModelState): void {
    const inSlots = model.slots.flatMap((slot) => (slot.request === null ? [] : [slot.request]));
    holds(new Set(inSlots).size === inSlots.length, "a request has one slot");
    holds(runningOn(model) <= model.terms.slots, "slots");
    let reserved = 0;
    for (const id of inSlots) reserved += this.state.requests.get(id)?.reserved ?? 0;
    holds(model.reserved === reserved, "context is reserved for those that run");
    holds(reserved <= model.poolTokens, "reserved within the pool");
    holds(model.phase !== "unloading" || inSlots.length === 0, "what leaves is not in use");
    const isIdle = model.phase === "ready" && inSlots.length + model.queue.length === 0;
    holds(!isIdle || model.unloadAt !== null, "an idle model's end is known");
    const offload = this.#offloads.get(model.terms.id);
    holds(
      offload === undefined || model.terms.memory?.moeOffload === offload,
      "what somebody has said about a model's experts lasts",
    );
    const { pages } = model;
    const releases = this.#pendingOn(model.terms.id, "release");
    holds(releases === (pages.phase === "leaving" ? 1 : 0), "pages that leave are given back once");
    const keeps = this.#pendingOn(model.terms.id, "keep");
    holds(pages.phase !== "coming" || keeps === 1, "pages that come are brought in once");
    holds(pages.phase !== "out" || pages.bytes === 0, "pages that are out take nothing");
    let turn = Number.NEGATIVE_INFINITY;
    for (const id of model.queue) {
      const request = this.state.requests.get(id);
      holds(request?.phase === "queued", "a queue holds those that wait");
      holds(request!.turn >= turn, "by turn");
      turn = request!.turn;
    }
  }

  #pendingOn(model: string, type: "keep" | "release"): number {
    let count = 0;
    for (const { effect } of this.pending) {
      if (effect.type === type && effect.model === model) count++;
    }
    return count;
  }

  /** Replaced where memory is planned. */
  checkMemory: () => void = () => {};

  arrive(
    terms: ModelTerms,
    promptBound: number,
    maxTokens: number,
    asked?: number,
    keepAliveMs: number | null = null,
    more: {
      deadlineMs?: number | undefined;
      workload?: Workload;
      queueTimeoutMs?: number;
      mayEvict?: boolean;
    } = {},
  ): number {
    const { deadlineMs, ...wanted } = more;
    const deadline =
      deadlineMs === undefined ? {} : { deadline: { ms: deadlineMs, by: "the test" } };
    const request = this.nextRequest++;
    this.open.add(request);
    this.send({
      type: "arrived",
      request,
      terms,
      need: { promptBound, maxTokens, ...(asked === undefined ? {} : { asked }) },
      outline: ["plain", `user\n${request % 3}`],
      keepAliveMs,
      ...deadline,
      ...wanted,
    });
    return request;
  }

  /** Has a model that is not loaded serve one short request; its load and its slot are held for so long. */
  serve(terms: ModelTerms, { loadMs = 0, holdMs = 0 } = {}): void {
    const request = this.arrive(terms, 100, 16);
    this.at += loadMs;
    this.settle(0, true);
    this.at += holdMs;
    this.finish(request);
  }

  /** What the short request that comes now is told of its wait, ms; undefined when it is refused. */
  told(terms: ModelTerms, workload?: Workload): number | null | undefined {
    const more = workload === undefined ? {} : { workload };
    return this.estimates.get(this.arrive(terms, 100, 16, undefined, null, more));
  }

  finish(request: number, answered = true): void {
    this.running.delete(request);
    this.open.delete(request);
    this.ended.set(request, "done");
    this.send({ type: "finished", request, outline: ["plain"], tokens: 100, answered });
  }

  /** Ends one piece of pending work, well or badly. */
  settle(
    index: number,
    well: boolean,
    promptTokens = 10,
    failure: "engine_failed" | "insufficient_memory" = "engine_failed",
  ): void {
    const atWork = this.pending.filter(({ hangsUntil }) => hangsUntil === undefined);
    if (atWork.length === 0) return;
    const { effect } = this.#takeOut(atWork[index % atWork.length]!);
    if (effect.type === "load") {
      const model = this.state.models.get(effect.model)!;
      if (well) {
        this.send({
          type: "loaded",
          model: effect.model,
          slots: model.terms.slots,
          contextTokens: effect.contextTokens,
          parkingKey: "k",
        });
      } else {
        this.send({
          type: "loadFailed",
          model: effect.model,
          code: failure,
          message: "it was killed.",
        });
      }
    } else if (effect.type === "park") {
      const { model } = effect;
      expect(this.state.models.get(model)?.phase).toBe("unloading");
      const saved = effect.slots.map(({ slot, tokens, mostBytes }) => {
        const name = String(this.#nextFile++);
        if (well) this.files.add(name);
        return { slot, tokens, file: { name, bytes: mostBytes, crc32: 0 } };
      });
      this.send(well ? { type: "parked", model, saved } : { type: "parkFailed", model });
    } else if (effect.type === "unpark") {
      const { model, parked } = effect;
      for (const { file } of parked.conversations) expect(this.files.delete(file.name)).toBe(true);
      const slots = parked.conversations.map(({ slot }) => slot);
      if (well) this.restores++;
      this.send(well ? { type: "unparked", model, slots } : { type: "unparkFailed", model });
    } else if (effect.type === "unload") {
      this.send({ type: "unloaded", model: effect.model });
    } else if (effect.type === "keep") {
      this.#endKeep(effect, well);
    } else if (effect.type === "release") {
      // What is being brought in ends first, as the shell has it.
      const under = this.pending.findIndex(
        (one) => one.effect.type === "keep" && one.effect.model === effect.model,
      );
      if (under < 0) this.send({ type: "released", model: effect.model });
      else {
        this.pending.push({ effect, at: this.at });
        this.#endKeep(this.pending.splice(under, 1)[0]!.effect as Keep, well);
      }
    } else if (effect.type === "count") {
      if (well) this.send({ type: "counted", request: effect.request, promptTokens });
      else {
        this.send({
          type: "countFailed",
          request: effect.request,
          code: "engine_failed",
          message: "no",
        });
      }
    }
  }

  /** Has one of the loads under way hang. */
  hang(index: number): void {
    const loads = this.pending.filter(
      ({ effect, hangsUntil }) => effect.type === "load" && hangsUntil === undefined,
    );
    if (loads.length > 0) loads[index % loads.length]!.hangsUntil = this.at + LOAD_LIMIT_MS;
  }

  /** Ends the loads that have hung for as long as they may. */
  endHung(): void {
    for (const one of this.pending.filter(
      ({ hangsUntil = this.at + 1 }) => hangsUntil <= this.at,
    )) {
      // Another one's end may have had it stopped.
      if (!this.pending.includes(one) || one.effect.type !== "load") continue;
      this.#takeOut(one);
      const { model } = one.effect;
      this.send({
        type: "loadFailed",
        model,
        code: "engine_timeout",
        message: "it took too long.",
      });
    }
  }

  #takeOut(one: Pending): Pending {
    return this.pending.splice(this.pending.indexOf(one), 1)[0]!;
  }

  #endKeep({ model, keeping }: Keep, well: boolean): void {
    if (well) this.send({ type: "kept", model, keeping });
    else {
      const why = { code: "model_unavailable", message: "it was cut." } as const;
      this.send({ type: "keepFailed", model, keeping, ...why });
    }
  }

  /** Somebody says where a model's experts run: one that is at work goes on, and one laid out otherwise does not stay. */
  offload(terms: ModelTerms, mode: MemoryTerms["moeOffload"]): void {
    const before = this.state.models.get(terms.id);
    const [phase, running] = [before?.phase, before === undefined ? 0 : runningOn(before)];
    const was = (before?.terms ?? terms).memory;
    const hasExperts = was?.estimate(1).layers.some((layer) => layer.experts > 0) ?? false;
    const isOther = hasExperts && (was?.moeOffload !== mode || was.cpuExpertLayers !== null);
    this.#offloads.set(terms.id, mode);
    this.#offloadTold = [];
    this.send({ type: "offloadSet", terms, mode });
    expect(this.#offloadTold).toHaveLength(1);
    const after = this.state.models.get(terms.id)!;
    if (this.#offloadTold[0] === "next_load") {
      expect(isOther && after.phase === phase).toBe(true);
    } else if (isOther) expect(after.phase).not.toBe("ready");
    if (running > 0) expect([after.phase, runningOn(after)]).toEqual([phase, running]);
  }

  /** The keeper says that it holds a model's pages no longer. */
  lose(model: string): void {
    const { keeping = 0 } = this.state.models.get(model)?.pages ?? {};
    const why = { code: "model_unavailable", message: "it was removed." } as const;
    this.send({ type: "keptLost", model, keeping, ...why });
  }

  /** Whether a load is wanted without a request. */
  #isAsked(): boolean {
    return [...this.state.models.values()].some((model) => model.askedAt !== null);
  }

  /** Lets everything end well. */
  settleAll(): void {
    for (let round = 0; round < 10_000; round++) {
      const [request] = this.running.keys();
      const hung = this.pending.flatMap(({ hangsUntil = [] }) => hangsUntil);
      if (this.pending.length > hung.length) this.settle(0, true);
      else if (request !== undefined) this.finish(request);
      else if (hung.length > 0) {
        this.at = Math.max(this.at, Math.min(...hung));
        this.endHung();
      } else if ((this.open.size > 0 || this.#isAsked()) && this.timer !== null) {
        this.at = Math.max(this.at, this.timer);
        this.timer = null;
        this.send({ type: "tick" });
      } else return;
    }
    throw new Error("the scheduler does not come to rest");
  }
}
