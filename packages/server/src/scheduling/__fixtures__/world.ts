import { expect } from "vitest";
import { decide } from "../decide.js";
import type { MemoryState } from "../memory-terms.js";
import {
  createState,
  type ModelTerms,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerState,
} from "../state.js";
import { PATIENCE_MS, runningOn, wantedSince } from "../waiting.js";

type Keep = Extract<SchedulerEffect, { type: "keep" }>;

/** Each kind of event without its time. */
type Untimed<E> = E extends SchedulerEvent ? Omit<E, "at"> : never;

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
  readonly pending: { effect: SchedulerEffect; at: number }[] = [];
  timer: number | null = null;

  constructor(memory: MemoryState | null = null) {
    this.state = createState(4, memory);
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
        this.running.set(effect.request, effect.model);
        break;
      }
      case "refuse":
        expect(this.open.delete(effect.request)).toBe(true);
        expect(this.running.has(effect.request)).toBe(false);
        this.ended.set(effect.request, effect.code);
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
      case "unload":
        if (effect.evicted !== null) this.#checkEviction(effect.model, effect.evicted.forModel);
        this.pending.push({ effect, at: this.at });
        break;
      default:
        this.pending.push({ effect, at: this.at });
    }
  }

  /** Only an impatient one takes the memory of a model that is asked for, and only from later requests. */
  #checkEviction(victim: string, forModel: string): void {
    const head = this.state.models.get(victim)!.queue[0];
    if (head === undefined) return;
    const since = wantedSince(this.state, this.state.models.get(forModel)!);
    expect(this.state.requests.get(head)!.arrivedAt).toBeGreaterThan(since);
    expect(this.at).toBeGreaterThanOrEqual(since + PATIENCE_MS);
  }

  #checkInvariants(): void {
    this.checkMemory();
    for (const model of this.state.models.values()) {
      const inSlots = model.slots.flatMap((slot) => (slot.request === null ? [] : [slot.request]));
      expect(new Set(inSlots).size).toBe(inSlots.length);
      expect(runningOn(model)).toBeLessThanOrEqual(model.terms.slots);
      const reserved = inSlots.reduce(
        (sum, id) => sum + (this.state.requests.get(id)?.reserved ?? 0),
        0,
      );
      expect(model.reserved).toBe(reserved);
      expect(model.reserved).toBeLessThanOrEqual(model.poolTokens);
      if (model.phase === "unloading") expect(inSlots).toEqual([]);
      if (model.phase === "ready" && inSlots.length + model.queue.length === 0)
        expect(model.unloadAt).not.toBeNull();
      const { id: name } = model.terms;
      expect(this.#pendingOn(name, "release")).toBe(model.pages.phase === "leaving" ? 1 : 0);
      if (model.pages.phase === "coming") expect(this.#pendingOn(name, "keep")).toBe(1);
      if (model.pages.phase === "out") expect(model.pages.bytes).toBe(0);
      for (const id of model.queue) expect(this.state.requests.get(id)?.phase).toBe("queued");
    }
  }

  #pendingOn(model: string, type: "keep" | "release"): number {
    return this.pending.filter(({ effect }) => effect.type === type && effect.model === model)
      .length;
  }

  /** Replaced where memory is planned. */
  checkMemory: () => void = () => {};

  arrive(
    terms: ModelTerms,
    promptBound: number,
    maxTokens: number,
    asked?: number,
    keepAliveMs: number | null = null,
    deadlineMs?: number,
  ): number {
    const request = this.nextRequest++;
    this.open.add(request);
    this.send({
      type: "arrived",
      request,
      terms,
      need: { promptBound, maxTokens, ...(asked === undefined ? {} : { asked }) },
      outline: ["plain", `user\n${request % 3}`],
      keepAliveMs,
      ...(deadlineMs === undefined ? {} : { deadline: { ms: deadlineMs, by: "the test" } }),
    });
    return request;
  }

  finish(request: number): void {
    this.running.delete(request);
    this.open.delete(request);
    this.ended.set(request, "done");
    this.send({ type: "finished", request, outline: ["plain"], answered: true });
  }

  /** Ends one piece of pending work, well or badly. */
  settle(
    index: number,
    well: boolean,
    promptTokens = 10,
    failure: "engine_failed" | "insufficient_memory" = "engine_failed",
  ): void {
    if (this.pending.length === 0) return;
    const { effect } = this.pending.splice(index % this.pending.length, 1)[0]!;
    if (effect.type === "load") {
      const model = this.state.models.get(effect.model)!;
      if (well) {
        this.send({
          type: "loaded",
          model: effect.model,
          slots: model.terms.slots,
          contextTokens: effect.contextTokens,
        });
      } else {
        this.send({
          type: "loadFailed",
          model: effect.model,
          code: failure,
          message: "it was killed.",
        });
      }
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

  #endKeep({ model, keeping }: Keep, well: boolean): void {
    if (well) this.send({ type: "kept", model, keeping });
    else {
      const why = { code: "model_unavailable", message: "it was cut." } as const;
      this.send({ type: "keepFailed", model, keeping, ...why });
    }
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
      if (this.pending.length > 0) this.settle(0, true);
      else if (request !== undefined) this.finish(request);
      else if ((this.open.size > 0 || this.#isAsked()) && this.timer !== null) {
        this.at = Math.max(this.at, this.timer);
        this.timer = null;
        this.send({ type: "tick" });
      } else return;
    }
    throw new Error("the scheduler does not come to rest");
  }
}
