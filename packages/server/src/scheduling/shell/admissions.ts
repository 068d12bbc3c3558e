import { SomnusError, toSomnusError } from "../../http/errors.js";
import type { MemoryTier } from "../../memory/index.js";
import type { Deadline, SchedulerEffect, SchedulerEvent, SchedulerState } from "../state/state.js";
import { tierOf } from "../state/tier-of.js";
import type { Workload } from "../turns/workload.js";
import { keptBytesOf } from "./activity.js";
import { now } from "./clock.js";
import type { KeptEngine, KeptEngines } from "./kept-engines.js";
import { type AdmissionFacts, Lease, type LeaseEvents } from "./lease.js";
import { refusalOf } from "./refusal.js";
import type { Schedulable } from "./schedulable.js";
import type { Work } from "./work.js";

/** How a request is to be admitted. */
export interface AdmitOptions {
  /** How long its model stays loaded after it, ms; null: as the model's settings have it. */
  keepAliveMs: number | null;
  signal: AbortSignal;
  /** The longest that it may wait until it starts: it is refused at once where that is not to be expected. */
  deadline?: Deadline | undefined;
  /** Called at once unless the request is refused, with the expected wait (ms, null where nothing tells). No throw. */
  onAdmitted?: (estimatedWaitMs: number | null) => void;
  /** How urgent it is; absent: standard. */
  workload?: Workload;
  /** Most that it waits for its turn, loads left out, ms; absent: as the limits have it. */
  queueTimeoutMs?: number;
  /**
   * False: no model goes for it. Where it would need that, it is refused with `memory_in_use`; so it runs on
   * what is loaded, or can be loaded beside it.
   */
  mayEvict?: boolean;
}

interface Waiting {
  work: Work;
  arrivedAt: number;
  cameFrom: MemoryTier;
  causedLoad: boolean;
  signal: AbortSignal;
  onAdmitted(estimatedWaitMs: number | null): void;
  resolve(lease: Lease): void;
  reject(error: unknown): void;
}

type Effect<T extends SchedulerEffect["type"]> = Extract<SchedulerEffect, { type: T }>;

/** The requests that wait for a lease, and how they get it. */
export class Admissions {
  readonly #state: Pick<SchedulerState, "models">;
  readonly #engines: KeptEngines;
  readonly #models: Map<string, Schedulable>;
  readonly #post: (event: SchedulerEvent) => void;
  readonly #waiting = new Map<number, Waiting>();
  #nextRequest = 1;

  /** `models`: as they are run from now on; who asks for one sets it. */
  constructor(options: {
    state: Pick<SchedulerState, "models">;
    engines: KeptEngines;
    models: Map<string, Schedulable>;
    post: (event: SchedulerEvent) => void;
  }) {
    this.#state = options.state;
    this.#engines = options.engines;
    this.#models = options.models;
    this.#post = options.post;
  }

  /** As `Scheduler.admitWork`. */
  admit(model: Schedulable, work: Work, options: AdmitOptions): Promise<Lease> {
    const { signal, onAdmitted = () => {}, deadline, ...wanted } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = this.#nextRequest++;
    const at = now();
    return new Promise<Lease>((resolve, reject) => {
      const onAbort = () => this.#post({ type: "cancelled", request: id, at: now() });
      const settle = () => signal.removeEventListener("abort", onAbort);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#models.set(model.terms.id, model);
      this.#waiting.set(id, {
        work,
        arrivedAt: at,
        cameFrom: tierOf(this.#state.models.get(model.terms.id)),
        causedLoad: false,
        signal,
        onAdmitted,
        resolve: (lease) => {
          settle();
          resolve(lease);
        },
        reject: (error) => {
          settle();
          reject(signal.aborted ? signal.reason : error);
        },
      });
      this.#post({
        type: "arrived",
        request: id,
        terms: model.terms,
        need: work.need,
        outline: work.outline,
        ...wanted,
        ...(deadline === undefined ? {} : { deadline }),
        at,
      });
    });
  }

  /** A request was let into the queue: whoever asked for it hears what wait is expected. */
  admitted({ request, estimatedWaitMs }: Effect<"admitted">): void {
    this.#waiting.get(request)!.onAdmitted(estimatedWaitMs);
  }

  /** A load was begun for a request; its lease will tell of that. */
  causedLoad(request: number): void {
    this.#waiting.get(request)!.causedLoad = true;
  }

  refuse(effect: Effect<"refuse">): void {
    const waiting = this.#waiting.get(effect.request);
    this.#waiting.delete(effect.request);
    waiting?.reject(refusalOf(effect));
  }

  grant(effect: Effect<"grant">): void {
    const { request: id, model } = effect;
    const waiting = this.#waiting.get(id)!;
    const engine = this.#engines.get(model)!;
    this.#waiting.delete(id);
    const at = now();
    const lease: Lease = new Lease(
      model,
      effect.slot,
      effect.contextTokens,
      effect.maxTokens,
      this.#factsOf(waiting, engine, model, at),
      engine.loaded!,
      waiting.work.outline,
      this.#eventsOf(id, model, engine, () => engine.leases.delete(lease)),
    );
    if (engine.leases.size === 0) engine.lastOutputAt = at;
    engine.leases.add(lease);
    for (const held of engine.leases) {
      held.concurrentSlots = Math.max(held.concurrentSlots, engine.leases.size);
    }
    waiting.resolve(lease);
  }

  /** Has the engine count a request's prompt; ends in one event. */
  async count({ request: id, model }: Effect<"count">): Promise<void> {
    const waiting = this.#waiting.get(id);
    const engine = this.#engines.get(model);
    const failed = (error: SomnusError) => {
      const { code, message } = error;
      this.#post({ type: "countFailed", request: id, code, message, at: now() });
    };
    const count = waiting?.work.count;
    if (!waiting || !count || !engine?.loaded) {
      failed(new SomnusError("engine_failed", "The engine ended."));
      return;
    }
    try {
      const promptTokens = await count(engine.loaded, waiting.signal);
      this.#post({ type: "counted", request: id, promptTokens, at: now() });
    } catch (error) {
      failed(toSomnusError(error));
      this.#engines.judge(engine, error);
    }
  }

  #factsOf(waiting: Waiting, engine: KeptEngine, model: string, at: number): AdmissionFacts {
    // Also of a model that was loaded when the request arrived: it may have been loaded anew since.
    const loadMs = Math.max(0, engine.readyAt - Math.max(waiting.arrivedAt, engine.startedAt));
    const { load } = engine.loaded!.facts;
    return {
      previousTier: waiting.cameFrom,
      queueMs: Math.max(0, at - waiting.arrivedAt - loadMs),
      loadMs,
      keptBytes: keptBytesOf(this.#state.models.get(model)!),
      ...(waiting.causedLoad ? { load, evicted: engine.evicted } : {}),
      ...(waiting.causedLoad && engine.restored ? { restored: engine.restored } : {}),
      ...(engine.placement === null ? {} : { placement: engine.placement }),
    };
  }

  #eventsOf(request: number, model: string, engine: KeptEngine, onEnd: () => void): LeaseEvents {
    return {
      promptMeasured: (promptTokens) =>
        this.#post({ type: "measured", request, promptTokens, at: now() }),
      output: () => {
        engine.lastOutputAt = now();
      },
      next: (following) => {
        this.#models.set(following.terms.id, following);
        this.#post({ type: "nextTold", terms: following.terms, during: request, at: now() });
      },
      failed: (error) => {
        if (error instanceof SomnusError && error.code === "device_out_of_memory") {
          this.#post({ type: "ranOutOfMemory", model, at: now() });
        }
        this.#engines.judge(engine, error);
      },
      released: (outline, tokens, answered) => {
        onEnd();
        this.#post({ type: "finished", request, outline, tokens, answered, at: now() });
      },
    };
  }
}
