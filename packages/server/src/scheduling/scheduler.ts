import {
  type Engine,
  LoadError,
  type Loaded,
  type LoadPhase,
  type LoadPlan,
  type ModelSpec,
} from "../engines/index.js";
import type { GenerationRequest } from "../formats/index.js";
import { SomnusError, toSomnusError } from "../http/errors.js";
import {
  type Booking,
  type Eviction,
  EvictionHistory,
  type Placement,
  requestsPerMinute,
} from "../memory/index.js";
import type { Logger } from "../observe/index.js";
import { loadFailureCode } from "./backoff.js";
import { needOf } from "./context-need.js";
import { decide } from "./decide.js";
import { Lease } from "./lease.js";
import type { MemoryState } from "./memory-terms.js";
import { type Outline, outlineOf } from "./outline.js";
import {
  createState,
  type EvictedFor,
  type ModelPhase,
  type ModelState,
  type ModelTerms,
  type SchedulerEffect,
  type SchedulerEvent,
} from "./state.js";
import { isWanted, runningOn } from "./waiting.js";

/** A model as the scheduler runs it. */
export interface Schedulable {
  terms: ModelTerms;
  spec: ModelSpec;
  plan: Omit<LoadPlan, "slots" | "contextTokens">;
  engine: Engine;
}

/** What a model does now; for lists and status, never to decide on. */
export interface ModelActivity {
  phase: ModelPhase;
  activeLeases: number;
  queued: number;
  /** The engine's facts while the model is ready. */
  facts: Loaded["facts"] | null;
  /** Why the last load failed, until one works. */
  failure: string | null;
  /** What is booked for it; null while it is not loaded, or when memory is not planned. */
  placement: Placement | null;
  /** Wanted, and waiting for others to make room. */
  waitsForMemory: boolean;
  /** Decayed over ten minutes. */
  requestsPerMinute: number;
  /** Requests answered since the server started. */
  served: number;
  /** Since its last use, ms; 0 while it is in use, null when it was never loaded. */
  idleMs: number | null;
  /** How long its last load took, ms; null before the first. */
  reloadMs: number | null;
}

interface Waiting {
  request: GenerationRequest;
  outline: Outline;
  arrivedAt: number;
  wasResident: boolean;
  causedLoad: boolean;
  signal: AbortSignal;
  resolve(lease: Lease): void;
  reject(error: unknown): void;
}

/** One load's process and what is needed to judge whether it hangs. */
interface Running {
  model: Schedulable;
  abort: AbortController;
  startedAt: number;
  readyAt: number;
  loaded: Loaded | null;
  lastOutputAt: number;
  leases: Set<Lease>;
  closing: boolean;
  placement: Placement | null;
  /** Models that had to go for it. */
  evicted: readonly string[];
}

/**
 * Decides when a request runs, and runs the effects of that decision. Only this shell holds engines;
 * all pool, lease and slot state changes through `decide`.
 */
export class Scheduler {
  readonly #state;
  readonly #log: Logger;
  readonly #stallMs: number;
  readonly #onResidency: () => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #running = new Map<string, Running>();
  readonly #models = new Map<string, Schedulable>();
  /** Work under way: close() waits for it. */
  readonly #work = new Set<Promise<void>>();
  /** Engines that end, by model: the next load of the model waits for its memory. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #evictions = new EvictionHistory();
  readonly #loadWatchers = new Map<string, Set<LoadWatcher>>();
  readonly #unloadWatchers = new Map<string, Set<(error?: unknown) => void>>();
  readonly #inbox: SchedulerEvent[] = [];
  #deciding = false;
  #nextRequest = 1;
  #nextAsk = 1;
  #timer: NodeJS.Timeout | null = null;

  /**
   * `stallMs`: an engine without any output for so long is taken to hang. `memory`: what loads are planned
   * with; without it every load is tried.
   */
  constructor(options: {
    maxQueuePerModel: number;
    stallMs: number;
    memory?: MemoryState | null;
    /** Called when an engine has come or gone, so that memory can be measured anew. Must not throw. */
    onResidency?: () => void;
    log: Logger;
  }) {
    this.#onResidency = options.onResidency ?? (() => {});
    this.#state = createState(options.maxQueuePerModel, options.memory ?? null);
    this.#stallMs = options.stallMs;
    this.#log = options.log;
  }

  /**
   * Waits until the request may run and gives its lease; loads the model first where needed.
   * @throws SomnusError when it is refused, or the signal's reason when that fires first
   */
  admit(
    model: Schedulable,
    request: GenerationRequest,
    options: { keepAliveMs: number | null; signal: AbortSignal },
  ): Promise<Lease> {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = this.#nextRequest++;
    const outline = outlineOf(request);
    const at = now();
    return new Promise<Lease>((resolve, reject) => {
      const onAbort = () => this.#post({ type: "cancelled", request: id, at: now() });
      const settle = () => signal.removeEventListener("abort", onAbort);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#models.set(model.terms.id, model);
      this.#waiting.set(id, {
        request,
        outline,
        arrivedAt: at,
        wasResident: this.#state.models.get(model.terms.id)?.phase === "ready",
        causedLoad: false,
        signal,
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
        need: needOf(request),
        outline,
        keepAliveMs: options.keepAliveMs,
        at,
      });
    });
  }

  /**
   * Loads a model without a request and waits until it is ready, also until others have made room. It is no pin.
   * @param contextTokens the pool context, no more and no less; an idle model is loaded anew for another one
   * @throws SomnusError when the load is refused or fails, or the signal's reason when that fires first
   */
  preload(
    model: Schedulable,
    on: (phase: LoadPhase, percent?: number) => void,
    signal: AbortSignal,
    contextTokens?: number,
  ): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = model.terms.id;
    const ask = this.#nextAsk++;
    return new Promise((resolve, reject) => {
      const watchers = this.#loadWatchers.get(id) ?? new Set();
      const watcher: LoadWatcher = {
        ask,
        phase: on,
        done: (error) => {
          watchers.delete(watcher);
          signal.removeEventListener("abort", onAbort);
          if (error) reject(error);
          else resolve();
        },
      };
      const onAbort = () => {
        watcher.done(signal.reason);
        if (watchers.size === 0) this.#post({ type: "loadUnasked", model: id, at: now() });
      };
      signal.addEventListener("abort", onAbort, { once: true });
      watchers.add(watcher);
      this.#loadWatchers.set(id, watchers);
      this.#models.set(id, model);
      this.#post({
        type: "loadAsked",
        terms: model.terms,
        ask,
        ...(contextTokens === undefined ? {} : { contextTokens }),
        at: now(),
      });
      if (this.#state.models.get(id)!.phase === "ready") watcher.done();
    });
  }

  /**
   * Unloads an idle model and waits until it has gone; one that is not loaded is gone already.
   * @throws SomnusError model_busy when it is in use, or the signal's reason when that fires first
   */
  demote(id: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const watchers = this.#unloadWatchers.get(id) ?? new Set();
      const done = (error?: unknown) => {
        watchers.delete(done);
        signal.removeEventListener("abort", onAbort);
        if (error) reject(error);
        else resolve();
      };
      const onAbort = () => done(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      watchers.add(done);
      this.#unloadWatchers.set(id, watchers);
      this.#post({ type: "unloadAsked", model: id, at: now() });
      const model = this.#state.models.get(id);
      if (model === undefined || model.phase === "unloaded") done();
    });
  }

  /** What a model does now. */
  activity(id: string): ModelActivity {
    const model = this.#state.models.get(id);
    const running = this.#running.get(id);
    return {
      phase: model?.phase ?? "unloaded",
      activeLeases: model ? runningOn(model) : 0,
      queued: model?.queue.length ?? 0,
      facts: model?.phase === "ready" ? (running?.loaded?.facts ?? null) : null,
      failure: model?.failure?.message ?? null,
      placement: model?.placement ?? null,
      waitsForMemory: model !== undefined && isWanted(model) && model.waitsForMemory,
      requestsPerMinute: requestsPerMinute(model?.use ?? null, now()),
      served: model?.served ?? 0,
      idleMs: model === undefined ? null : idleMs(model, now()),
      reloadMs: model?.reloadMs ?? null,
    };
  }

  /** What loads are planned with from now on: the machine has other memory, or others use it. */
  planWith(memory: MemoryState | null): void {
    this.#post({ type: "memoryMeasured", memory, at: now() });
  }

  /** What is booked for loaded models, those that come and those that go included. */
  bookings(): Booking[] {
    return [...this.#state.models.values()].flatMap(({ placement, terms }) => {
      if (placement === null || terms.memory === undefined) return [];
      const { artifact, artifactBytes } = terms.memory;
      const { deviceBytes, hostBytes, mappedBytes } = placement;
      return { artifact, artifactBytes, deviceBytes, hostBytes, mappedBytes, keptBytes: 0 };
    });
  }

  /** The last models that went to make room for others, the newest first. */
  evictions(): Eviction[] {
    return this.#evictions.list();
  }

  /** Refuses what waits and what comes; what runs may go on. */
  drain(): void {
    this.#post({ type: "drainAsked", at: now() });
  }

  /** Ends every engine; resolves when all their processes are gone. */
  async close(): Promise<void> {
    this.drain();
    for (const running of this.#running.values()) {
      if (running.loaded) this.#end(running, "drain");
      else running.abort.abort(new SomnusError("shutting_down", "The server is shutting down."));
    }
    while (this.#work.size > 0) await Promise.allSettled([...this.#work]);
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #post(event: SchedulerEvent): void {
    this.#inbox.push(event);
    if (this.#deciding) return;
    this.#deciding = true;
    try {
      for (let next = this.#inbox.shift(); next; next = this.#inbox.shift()) {
        for (const effect of decide(this.#state, next)) this.#run(effect);
      }
    } finally {
      this.#deciding = false;
    }
  }

  #run(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "grant":
        this.#grant(effect);
        break;
      case "refuse":
        this.#refuse(effect);
        break;
      case "load":
        if (effect.request !== null) this.#waiting.get(effect.request)!.causedLoad = true;
        this.#own(this.#load(effect));
        break;
      case "loadRefused":
        this.#tellWatchers(effect.model, refusalOf(effect), effect.ask);
        break;
      case "unloadRefused":
        this.#tellUnloaded(effect.model, new SomnusError("model_busy", effect.message));
        break;
      case "unload":
        if (effect.evicted !== null) this.#noteEviction(effect.model, effect.evicted);
        this.#own(this.#unload(effect.model));
        break;
      case "count":
        this.#own(this.#count(effect.request, effect.model));
        break;
      case "timer":
        this.#setTimer(effect.at);
        break;
    }
  }

  /** Every piece of asynchronous work has an owner: close() waits for it, and its failure is logged. */
  #own(work: Promise<void>): void {
    const owned: Promise<void> = work
      .catch((error) => this.#log.error({ err: error }, "scheduler effect failed"))
      .finally(() => this.#work.delete(owned));
    this.#work.add(owned);
  }

  #grant(effect: Extract<SchedulerEffect, { type: "grant" }>): void {
    const { request: id, model } = effect;
    const waiting = this.#waiting.get(id)!;
    const running = this.#running.get(model)!;
    const loaded = running.loaded!;
    this.#waiting.delete(id);
    const at = now();
    // Also of a model that was loaded when the request arrived: it may have been loaded anew since.
    const loadMs = Math.max(0, running.readyAt - Math.max(waiting.arrivedAt, running.startedAt));
    const lease = new Lease(
      model,
      effect.slot,
      effect.contextTokens,
      effect.maxTokens,
      {
        wasResident: waiting.wasResident,
        queueMs: Math.max(0, at - waiting.arrivedAt - loadMs),
        loadMs,
        ...(waiting.causedLoad ? { load: loaded.facts.load, evicted: running.evicted } : {}),
        ...(running.placement === null ? {} : { placement: running.placement }),
      },
      loaded,
      waiting.outline,
      {
        promptMeasured: (promptTokens) =>
          this.#post({ type: "measured", request: id, promptTokens, at: now() }),
        output: () => {
          running.lastOutputAt = now();
        },
        failed: (error) => this.#onFailure(running, error),
        released: (outline, answered) => {
          running.leases.delete(lease);
          this.#post({ type: "finished", request: id, outline, answered, at: now() });
        },
      },
    );
    if (running.leases.size === 0) running.lastOutputAt = at;
    running.leases.add(lease);
    for (const held of running.leases) {
      held.concurrentSlots = Math.max(held.concurrentSlots, running.leases.size);
    }
    waiting.resolve(lease);
  }

  /**
   * An engine from which nothing came for anybody hangs, and only its end frees the slots. No other
   * request is sent to it from now on.
   */
  #onFailure(running: Running, error: unknown): void {
    const hangs =
      error instanceof SomnusError &&
      error.code === "engine_timeout" &&
      now() - running.lastOutputAt >= this.#stallMs * 0.9;
    if (!hangs || running.closing) return;
    const id = running.model.terms.id;
    this.#log.error({ model: id }, "the engine hangs and is ended");
    void this.#end(running, "now");
    this.#post({ type: "engineExited", model: id, at: now() });
  }

  #refuse(effect: Extract<SchedulerEffect, { type: "refuse" }>): void {
    const waiting = this.#waiting.get(effect.request);
    this.#waiting.delete(effect.request);
    waiting?.reject(refusalOf(effect));
  }

  #noteEviction(model: string, evicted: EvictedFor): void {
    const { forModel, reason, toTier } = evicted;
    this.#log.info({ model, forModel, reason, toTier }, "model has to make room");
    this.#evictions.add({ model, forModel, reason, toTier, at: Date.now() });
  }

  async #load(effect: Extract<SchedulerEffect, { type: "load" }>): Promise<void> {
    const { model: id, contextTokens, placement, evicted } = effect;
    const model = this.#models.get(id)!;
    const abort = new AbortController();
    const running: Running = {
      model,
      abort,
      startedAt: now(),
      readyAt: 0,
      loaded: null,
      lastOutputAt: Number.NEGATIVE_INFINITY,
      leases: new Set(),
      closing: false,
      placement,
      evicted,
    };
    this.#running.set(id, running);
    this.#log.info({ model: id, contextTokens, slots: model.terms.slots }, "loading model");
    try {
      await this.#ending.get(id);
      const loaded = await model.engine.load(
        model.spec,
        {
          ...model.plan,
          ...(placement === null ? {} : asPlanned(placement, model.spec.gguf.layers)),
          slots: model.terms.slots,
          contextTokens,
        },
        (phase, percent) => {
          for (const watcher of this.#loadWatchers.get(id) ?? []) watcher.phase(phase, percent);
        },
        abort.signal,
      );
      running.loaded = loaded;
      running.readyAt = now();
      this.#own(this.#watchExit(id, running, loaded));
      const { slots, contextTokens: had } = loaded.facts;
      this.#log.info(
        { model: id, ms: Math.round(running.readyAt - running.startedAt) },
        "model loaded",
      );
      this.#post({ type: "loaded", model: id, slots, contextTokens: had, at: now() });
      this.#tellWatchers(id);
      this.#onResidency();
    } catch (error) {
      this.#running.delete(id);
      const exit = error instanceof LoadError ? error.exit : null;
      const shown = exit
        ? new SomnusError(loadFailureCode(exit.kind), exit.message, { cause: error })
        : toSomnusError(error);
      this.#log.error({ model: id, err: error, engine: exit?.log }, "model failed to load");
      const { code, message } = shown;
      this.#post({ type: "loadFailed", model: id, code, message, at: now() });
      this.#tellWatchers(id, shown);
    }
  }

  /** `ask`: the only one who is meant; null: all who wait. */
  #tellWatchers(id: string, error?: SomnusError, ask: number | null = null): void {
    for (const watcher of [...(this.#loadWatchers.get(id) ?? [])]) {
      if (ask === null || watcher.ask === ask) watcher.done(error);
    }
  }

  #tellUnloaded(id: string, error?: unknown): void {
    for (const done of [...(this.#unloadWatchers.get(id) ?? [])]) done(error);
  }

  async #watchExit(id: string, running: Running, loaded: Loaded): Promise<void> {
    const reason = await loaded.exited;
    if (this.#running.get(id) === running) this.#running.delete(id);
    if (running.closing) return;
    this.#log.error(
      {
        model: id,
        kind: reason.kind,
        code: reason.code,
        signal: reason.signal,
        engine: reason.log,
      },
      "the engine ended unexpectedly",
    );
    this.#post({ type: "engineExited", model: id, at: now() });
  }

  async #unload(id: string): Promise<void> {
    const running = this.#running.get(id);
    try {
      if (running) await this.#end(running, "drain");
    } catch (error) {
      this.#tellUnloaded(id, error);
      throw error;
    }
    this.#log.info({ model: id }, "model unloaded");
    this.#post({ type: "unloaded", model: id, at: now() });
    this.#tellUnloaded(id);
    this.#onResidency();
  }

  #end(running: Running, how: "drain" | "now"): Promise<void> {
    const id = running.model.terms.id;
    running.closing = true;
    if (this.#running.get(id) === running) this.#running.delete(id);
    const closed = running.loaded!.close(how).finally(() => {
      if (this.#ending.get(id) === closed) this.#ending.delete(id);
    });
    this.#ending.set(id, closed);
    this.#own(closed);
    return closed;
  }

  async #count(id: number, modelId: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    const running = this.#running.get(modelId);
    if (!waiting || !running?.loaded) {
      this.#post({
        type: "countFailed",
        request: id,
        code: "engine_failed",
        message: "The engine ended.",
        at: now(),
      });
      return;
    }
    try {
      const promptTokens = await running.loaded.count(waiting.request, waiting.signal);
      this.#post({ type: "counted", request: id, promptTokens, at: now() });
    } catch (error) {
      const { code, message } = toSomnusError(error);
      this.#post({ type: "countFailed", request: id, code, message, at: now() });
      this.#onFailure(running, error);
    }
  }

  #setTimer(at: number | null): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (at === null) return;
    // Node's timers take 2^31 - 1 ms at most; a tick that comes early only sets the timer again.
    const wait = Math.min(Math.max(0, Math.ceil(at - now())), 2 ** 31 - 1);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#post({ type: "tick", at: now() });
    }, wait);
    this.#timer.unref();
  }
}

/** The error that a refusal is told as. */
function refusalOf(
  effect: Extract<SchedulerEffect, { type: "refuse" | "loadRefused" }>,
): SomnusError {
  return new SomnusError(effect.code, effect.message, {
    ...(effect.param === undefined ? {} : { param: effect.param }),
    ...(effect.retryAfterSecs === undefined ? {} : { retryAfterSecs: effect.retryAfterSecs }),
  });
}

function idleMs(model: ModelState, at: number): number | null {
  if (model.usedAt === null) return null;
  return runningOn(model) > 0 ? 0 : at - model.usedAt;
}

/** A placement as an engine is told it. The output head counts as one more layer, the first to go to a device. */
function asPlanned(
  placement: Placement,
  layers: number | null,
): Pick<LoadPlan, "gpuLayers" | "cpuExpertLayers" | "layersOnDevice"> {
  const onDevices = placement.layersOnDevice.reduce((sum, count) => sum + count, 0);
  const whole = onDevices > 0 && (layers === null || onDevices >= layers);
  return {
    gpuLayers: whole ? "auto" : onDevices === 0 ? 0 : onDevices + 1,
    cpuExpertLayers: placement.cpuExpertLayers,
    ...(placement.layersOnDevice.length > 1 ? { layersOnDevice: placement.layersOnDevice } : {}),
  };
}

interface LoadWatcher {
  ask: number;
  phase(phase: LoadPhase, percent?: number): void;
  done(error?: unknown): void;
}

/** The scheduler's clock: ms, monotonic. */
function now(): number {
  return performance.now();
}
