import type { Loaded, LoadPhase } from "../../engines/index.js";
import type { GenerationRequest } from "../../formats/index.js";
import { SomnusError, toSomnusError } from "../../http/errors.js";
import {
  type Booking,
  type Eviction,
  EvictionHistory,
  type MemoryTier,
  type ParkingFolder,
  type ParkingSettings,
  type Placement,
  requestsPerMinute,
} from "../../memory/index.js";
import type { Logger } from "../../observe/index.js";
import { needOf } from "../decision/context-need.js";
import { decide } from "../decision/decide.js";
import type { Applies } from "../decision/moe-offload.js";
import { type ParkingReport, reportOf } from "../parking/report.js";
import { bookingsOf } from "../placement/plan-input.js";
import { type Preview, preview } from "../placement/preview.js";
import type { MemoryState, MemoryTerms } from "../state/memory-terms.js";
import { newModel } from "../state/model-state.js";
import { type Outline, outlineOf } from "../state/outline.js";
import {
  createState,
  type Deadline,
  type EvictedFor,
  type ModelPhase,
  type ModelState,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerLimits,
} from "../state/state.js";
import { tierOf } from "../state/tier-of.js";
import { isWanted, runningOn } from "../state/waiting.js";
import type { Workload } from "../turns/workload.js";
import { estimatedWaitMs } from "../waits/estimated-wait.js";
import { newcomer } from "../waits/newcomer.js";
import { accuracyOf, type WaitAccuracy } from "../waits/wait-scores.js";
import { now } from "./clock.js";
import { KeptConversations } from "./kept-conversations.js";
import { type FinishedLoad, KeptEngines } from "./kept-engines.js";
import { type KeptTime, keptTimes } from "./kept-times.js";
import { KeptWeights, type WeightsKeeper } from "./kept-weights.js";
import { Lease } from "./lease.js";
import type { Schedulable } from "./schedulable.js";
import { Waiters } from "./waiters.js";

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
  tier: MemoryTier;
  /** Its weights in tier 2, whether it is loaded or not; null while nothing of them is held. Bytes. */
  kept: { phase: "coming" | "kept" | "leaving"; bytes: number } | null;
  /** Of its weights, kept now. */
  keptBytes: number;
  /** Why its weights could not be kept the last time, or no longer; null when all is well. */
  keepProblem: string | null;
  /** Wanted, and waiting for others to make room. */
  waitsForMemory: boolean;
  /** Exempt from idle unloading and from making room. */
  pinned: boolean;
  /** Where its experts run from its next load on; null before anybody wanted it. */
  moeOffload: MemoryTerms["moeOffload"] | null;
  /** Decayed over ten minutes. */
  requestsPerMinute: number;
  /** Requests answered since the server started. */
  served: number;
  /** Since its last use, ms; 0 while it is in use, null when it was never loaded. */
  idleMs: number | null;
  /** How long its last load from disk took, and from tier 2, ms; null before the first. */
  reloadMs: number | null;
  warmReloadMs: number | null;
  /** Average time that a request holds a slot, ms; null before the first has ended. */
  serviceMs: number | null;
  /** How good such estimates were; null before the first wait. */
  waitAccuracy: WaitAccuracy | null;
}

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
  request: GenerationRequest;
  outline: Outline;
  arrivedAt: number;
  cameFrom: MemoryTier;
  causedLoad: boolean;
  signal: AbortSignal;
  onAdmitted(estimatedWaitMs: number | null): void;
  resolve(lease: Lease): void;
  reject(error: unknown): void;
}

/**
 * Decides when a request runs, and runs the effects of that decision. Only this shell holds engines;
 * all pool, lease and slot state changes through `decide`.
 */
export class Scheduler {
  readonly #state;
  readonly #log: Logger;
  readonly #engines: KeptEngines;
  readonly #conversations: KeptConversations;
  readonly #waiting = new Map<number, Waiting>();
  readonly #models = new Map<string, Schedulable>();
  readonly #evictions = new EvictionHistory();
  readonly #loads = new Waiters<Ask>();
  readonly #unloads = new Waiters<null>();
  readonly #weights: KeptWeights;
  readonly #moves = new Waiters<Move>();
  /** Who set the experts' place and waits to hear when it applies, in the order of their events. */
  readonly #offloads: { model: string; resolve(applies: Applies): void }[] = [];
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
    limits?: Partial<SchedulerLimits>;
    stallMs: number;
    memory?: MemoryState | null;
    /** What holds weights in tier 2; without it there is none. */
    keeper?: WeightsKeeper | null;
    /** Where conversations are parked, and how much of them at first; absent: they are not. */
    parking?: ParkingSettings & { folder: ParkingFolder };
    /** Idle time after which what a slot holds is forgotten, ms; absent: never. */
    slotIdleMs?: number;
    /** Called when an engine or kept weights have come or gone, so that memory can be measured anew. Must not throw. */
    onResidency?: () => void;
    /** Called when an unloaded model's process has gone; its memory is given out again when this settles. Must not throw. */
    onGone?: (model: string) => Promise<void>;
    /** Called with every load that went well. Must not throw. */
    onLoaded?: (load: FinishedLoad) => void;
    log: Logger;
  }) {
    const folder = options.parking?.folder ?? null;
    this.#state = createState(options.maxQueuePerModel, options.memory ?? null, options.limits, {
      enabled: options.parking?.enabled ?? false,
      maxBytes: options.parking?.maxBytes ?? 0,
      capacityBytes: folder?.capacityBytes ?? 0,
      takesMemory: folder?.inMemory ?? false,
      slotIdleMs: options.slotIdleMs ?? Number.POSITIVE_INFINITY,
    });
    this.#log = options.log;
    this.#engines = new KeptEngines({
      on: {
        post: (event) => this.#post(event),
        phase: (model, phase, percent) => {
          for (const ask of this.#loads.of(model)) ask.phase(phase, percent);
        },
        loaded: (model, error) => {
          // It may still get its conversations back.
          if (error || this.#state.models.get(model)?.phase === "ready") {
            this.#loads.tell(model, error);
          }
        },
        gone: options.onGone ?? (async () => {}),
        unloaded: (model, error) => this.#unloads.tell(model, error),
        finished: (load) => {
          const isWarm = this.#state.models.get(load.model.terms.id)?.loadsWarm;
          const fromTier = isWarm ? "tier2_pinned_ram" : "tier3_nvme_ssd";
          options.onLoaded?.({ ...load, fromTier });
        },
        residency: options.onResidency ?? (() => {}),
      },
      stallMs: options.stallMs,
      log: options.log,
    });
    this.#weights = new KeptWeights({
      keeper: options.keeper ?? null,
      on: {
        post: (event) => this.#post(event),
        residency: options.onResidency ?? (() => {}),
      },
      log: options.log,
    });
    this.#conversations = new KeptConversations({
      folder,
      engines: this.#engines,
      post: (event) => this.#post(event),
      settled: (model, error) => this.#loads.tell(model, error),
      log: options.log,
    });
  }

  /**
   * Waits until the request may run and gives its lease; loads the model first where needed.
   * `onAdmitted` is called at once unless the request is refused, with the wait that is expected (ms, null where
   * nothing tells); it must not throw.
   * @throws SomnusError when it is refused, or the signal's reason when that fires first
   */
  admit(model: Schedulable, request: GenerationRequest, options: AdmitOptions): Promise<Lease> {
    const { signal, onAdmitted: _, deadline, ...wanted } = options;
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
        cameFrom: this.#tierOf(model.terms.id),
        causedLoad: false,
        signal,
        onAdmitted: options.onAdmitted ?? (() => {}),
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
        ...wanted,
        ...(deadline === undefined ? {} : { deadline }),
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
    const { id } = model.terms;
    const ask = this.#nextAsk++;
    const loaded = this.#loads.wait(id, { ask, phase: on }, signal, () => {
      if (this.#loads.of(id).length === 0)
        this.#post({ type: "loadUnasked", model: id, at: now() });
    });
    this.#models.set(id, model);
    this.#post({
      type: "loadAsked",
      terms: model.terms,
      ask,
      ...(contextTokens === undefined ? {} : { contextTokens }),
      at: now(),
    });
    if (this.#state.models.get(id)!.phase === "ready") this.#tellLoaded(id, undefined, ask);
    return loaded;
  }

  /**
   * Has a model's weights in tier 2 without an engine and waits until they are: an idle one is unloaded, and
   * from disk they are brought in.
   * @throws SomnusError model_busy when it is in use, insufficient_memory with the numbers, what the keeper throws,
   *   or the signal's reason when that fires first
   */
  keepWeights(model: Schedulable, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { id } = model.terms;
    const ask = this.#nextAsk++;
    const moved = this.#moves.wait(id, { ask, to: "tier2_pinned_ram" }, signal);
    this.#models.set(id, model);
    this.#post({ type: "keepAsked", terms: model.terms, ask, at: now() });
    return moved;
  }

  /**
   * Sets where a model's experts run from its next load on; an idle model goes for it, its weights to tier 2.
   * Tells whether that is so from now on, or once a busy model is loaded anew.
   */
  setMoeOffload(model: Schedulable, mode: MemoryTerms["moeOffload"]): Promise<Applies> {
    const { id } = model.terms;
    this.#models.set(id, model);
    return new Promise((resolve) => {
      this.#offloads.push({ model: id, resolve });
      this.#post({ type: "offloadSet", terms: model.terms, mode, at: now() });
    });
  }

  /** The keeper holds a file no longer: models with these weights are on disk only. */
  weightsLost(path: string, message: string): void {
    this.#weights.lost(path, message);
  }

  /** Bytes of kept weights that are locked in memory: the system does not count them as available. */
  lockedBytes(): number {
    return this.#weights.lockedBytes();
  }

  /**
   * Unloads an idle model and gives its kept weights back; waits until all has gone. One of which nothing is in
   * memory is gone already.
   * @throws SomnusError model_busy when it is in use, or the signal's reason when that fires first
   */
  demote(id: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const gone = this.#unloads.wait(id, null, signal);
    this.#post({ type: "unloadAsked", model: id, at: now() });
    if ((this.#state.models.get(id)?.phase ?? "unloaded") === "unloaded") this.#unloads.tell(id);
    return gone.then(() => {
      const moved = this.#moves.wait(id, { ask: null, to: "tier3_nvme_ssd" }, signal);
      this.#tellMoved();
      return moved;
    });
  }

  /** Pins a model, or takes its pin away: what is pinned stays loaded once it is. Not kept when the server ends. */
  pin(model: Schedulable, pinned: boolean): void {
    this.#post({ type: "pinAsked", terms: model.terms, pinned, at: now() });
  }

  /**
   * How a model would be loaded now; nothing is done. Null while memory is not planned.
   * @param contextTokens the pool context, no more and no less; null: as it is usually loaded
   */
  preview({ terms }: Pick<Schedulable, "terms">, contextTokens: number | null): Preview | null {
    return preview(this.#state, terms, contextTokens, now());
  }

  /** What a model does now. */
  activity(id: string): ModelActivity {
    const model = this.#state.models.get(id);
    const engine = this.#engines.get(id);
    return {
      phase: model?.phase ?? "unloaded",
      activeLeases: model ? runningOn(model) : 0,
      queued: model?.queue.length ?? 0,
      facts: model?.phase === "ready" ? (engine?.loaded?.facts ?? null) : null,
      failure: model?.failure?.message ?? null,
      placement: model?.placement ?? null,
      tier: model === undefined ? "tier3_nvme_ssd" : tierOf(model),
      kept: model === undefined ? null : keptOf(model),
      keptBytes: model === undefined ? 0 : keptBytesOf(model),
      keepProblem: model?.pages.problem?.message ?? null,
      waitsForMemory: model !== undefined && isWanted(model) && model.waitsForMemory,
      pinned: model?.pinned ?? false,
      moeOffload: model?.terms.memory?.moeOffload ?? null,
      requestsPerMinute: requestsPerMinute(model?.use ?? null, now()),
      served: model?.served ?? 0,
      idleMs: model === undefined ? null : idleMs(model, now()),
      reloadMs: model?.reloadMs ?? null,
      warmReloadMs: model?.warmReloadMs ?? null,
      serviceMs: model?.times.all?.mean ?? null,
      waitAccuracy: model === undefined ? null : accuracyOf(model.scores),
    };
  }

  /** What a request that comes now and needs no more context than others would wait, ms; null where nothing tells. */
  expectedWaitMs({ terms }: Schedulable): number | null {
    const model = this.#state.models.get(terms.id) ?? newModel(terms);
    const at = now();
    const request = newcomer({ promptBound: 0, maxTokens: 0 }, at);
    return estimatedWaitMs(this.#state, model, request, at);
  }

  /** How long requests of each model hold their slots, to be kept beyond this process. */
  serviceTimes(): KeptTime[] {
    return keptTimes(this.#state);
  }

  /** What loads are planned with from now on: the machine has other memory, or others use it. */
  planWith(memory: MemoryState | null): void {
    this.#post({ type: "memoryMeasured", memory, at: now() });
  }

  /**
   * What is booked for models, those that come and those that go included, and for what is parked.
   * @param without the model whose engine is left out
   */
  bookings(without?: string): Booking[] {
    return bookingsOf(this.#state, this.#state.models.get(without ?? "") ?? null);
  }

  /** What is parked now. */
  parking(): ParkingReport {
    return reportOf(this.#state, now());
  }

  /** Sets how much is parked from now on; what is left out stays as it is. */
  setParking(settings: Partial<ParkingSettings>): void {
    this.#post({ type: "parkingSet", ...settings, at: now() });
  }

  /** Forgets what is parked of models that are not served any more. */
  dropParked(isServed: (model: string) => boolean): void {
    const models = [...this.#state.models.keys()].filter((id) => !isServed(id));
    if (models.length > 0) this.#post({ type: "parkedDropped", models, at: now() });
  }

  /** The last models that went to make room for others, the newest first. */
  evictions(): Eviction[] {
    return this.#evictions.list();
  }

  /** Refuses what waits and what comes; what runs may go on. */
  drain(): void {
    this.#post({ type: "drainAsked", at: now() });
  }

  /** Ends every engine; resolves when all their processes are gone, and nobody uses the keeper any more. */
  async close(): Promise<void> {
    this.drain();
    this.#conversations.stop();
    await Promise.all([this.#engines.close(), this.#weights.close()]);
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
      this.#tellMoved();
    } finally {
      this.#deciding = false;
    }
  }

  #run(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "admitted":
        this.#waiting.get(effect.request)!.onAdmitted(effect.estimatedWaitMs);
        break;
      case "grant":
        this.#grant(effect);
        break;
      case "refuse":
        this.#refuse(effect);
        break;
      case "load":
        if (effect.request !== null) this.#waiting.get(effect.request)!.causedLoad = true;
        this.#engines.load(this.#models.get(effect.model)!, effect);
        break;
      case "loadRefused":
        this.#tellLoaded(effect.model, refusalOf(effect), effect.ask);
        break;
      case "unloadRefused":
        this.#unloads.tell(effect.model, new SomnusError("model_busy", effect.message));
        break;
      case "unload":
        if (effect.evicted !== null) this.#noteEviction(effect.model, effect.evicted);
        this.#engines.unload(effect.model);
        break;
      case "keep":
        this.#weights.keep(this.#models.get(effect.model)!, effect.keeping);
        break;
      case "offloadTold": {
        const at = this.#offloads.findIndex(({ model }) => model === effect.model);
        this.#offloads.splice(at, 1)[0]?.resolve(effect.applies);
        break;
      }
      case "keepRefused": {
        const { model, ask, code, message } = effect;
        this.#moves.tell(model, new SomnusError(code, message), (move) => move.ask === ask);
        break;
      }
      case "release":
        if (effect.evicted !== null) this.#noteEviction(effect.model, effect.evicted);
        this.#weights.release(effect.model);
        break;
      case "park":
      case "unpark":
      case "discard":
      case "erase":
        this.#conversations.run(effect);
        break;
      case "count":
        this.#engines.own(this.#count(effect.request, effect.model));
        break;
      case "timer":
        this.#setTimer(effect.at);
        break;
    }
  }

  /** Ends the waiting for moves that are over: a model's state says whether it has arrived, or why it will not. */
  #tellMoved(): void {
    for (const id of this.#moves.models()) {
      const model = this.#state.models.get(id);
      if (model === undefined || model.pages.phase !== "leaving") {
        this.#moves.tell(id, undefined, ({ to }) => to === "tier3_nvme_ssd");
      }
      if (model === undefined || isOnItsWay(model)) continue;
      const error = whyNotWarm(model, this.#state.draining);
      this.#moves.tell(id, error, ({ to }) => to === "tier2_pinned_ram");
    }
  }

  #tierOf(id: string): MemoryTier {
    const model = this.#state.models.get(id);
    return model === undefined ? "tier3_nvme_ssd" : tierOf(model);
  }

  #grant(effect: Extract<SchedulerEffect, { type: "grant" }>): void {
    const { request: id, model } = effect;
    const waiting = this.#waiting.get(id)!;
    const engine = this.#engines.get(model)!;
    const loaded = engine.loaded!;
    this.#waiting.delete(id);
    const at = now();
    // Also of a model that was loaded when the request arrived: it may have been loaded anew since.
    const loadMs = Math.max(0, engine.readyAt - Math.max(waiting.arrivedAt, engine.startedAt));
    const lease = new Lease(
      model,
      effect.slot,
      effect.contextTokens,
      effect.maxTokens,
      {
        previousTier: waiting.cameFrom,
        queueMs: Math.max(0, at - waiting.arrivedAt - loadMs),
        loadMs,
        keptBytes: keptBytesOf(this.#state.models.get(model)!),
        ...(waiting.causedLoad ? { load: loaded.facts.load, evicted: engine.evicted } : {}),
        ...(waiting.causedLoad && engine.restored ? { restored: engine.restored } : {}),
        ...(engine.placement === null ? {} : { placement: engine.placement }),
      },
      loaded,
      waiting.outline,
      {
        promptMeasured: (promptTokens) =>
          this.#post({ type: "measured", request: id, promptTokens, at: now() }),
        output: () => {
          engine.lastOutputAt = now();
        },
        next: (following) => {
          this.#models.set(following.terms.id, following);
          this.#post({ type: "nextTold", terms: following.terms, during: id, at: now() });
        },
        failed: (error) => {
          if (error instanceof SomnusError && error.code === "device_out_of_memory") {
            this.#post({ type: "ranOutOfMemory", model, at: now() });
          }
          this.#engines.judge(engine, error);
        },
        released: (outline, tokens, answered) => {
          engine.leases.delete(lease);
          this.#post({ type: "finished", request: id, outline, tokens, answered, at: now() });
        },
      },
    );
    if (engine.leases.size === 0) engine.lastOutputAt = at;
    engine.leases.add(lease);
    for (const held of engine.leases) {
      held.concurrentSlots = Math.max(held.concurrentSlots, engine.leases.size);
    }
    waiting.resolve(lease);
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

  /** `ask`: the only one who is meant; null: all who wait. */
  #tellLoaded(id: string, error: SomnusError | undefined, ask: number | null): void {
    this.#loads.tell(id, error, (about) => ask === null || about.ask === ask);
  }

  async #count(id: number, modelId: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    const engine = this.#engines.get(modelId);
    if (!waiting || !engine?.loaded) {
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
      const promptTokens = await engine.loaded.count(waiting.request, waiting.signal);
      this.#post({ type: "counted", request: id, promptTokens, at: now() });
    } catch (error) {
      const { code, message } = toSomnusError(error);
      this.#post({ type: "countFailed", request: id, code, message, at: now() });
      this.#engines.judge(engine, error);
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

function keptBytesOf({ pages }: ModelState): number {
  return pages.phase === "kept" ? pages.bytes : 0;
}

function keptOf({ pages }: ModelState): ModelActivity["kept"] {
  return pages.phase === "out" ? null : { phase: pages.phase, bytes: pages.bytes };
}

/** Whether it is still open what becomes of a wish to have the model in tier 2. */
function isOnItsWay({ phase, pages }: ModelState): boolean {
  return phase === "unloading" || pages.isNext || pages.phase === "coming";
}

/** Why a model has not come to tier 2; undefined when its weights are kept. */
function whyNotWarm(
  { terms, phase, pages }: ModelState,
  draining: boolean,
): SomnusError | undefined {
  if (pages.phase === "kept") return undefined;
  if (draining) return new SomnusError("shutting_down", "The server is shutting down.");
  const { code, message } = pages.problem ?? {
    code: "model_busy" as const,
    message:
      phase === "ready"
        ? `${terms.id} was asked for, and is loaded now.`
        : `${terms.id} had to leave memory again; try again.`,
  };
  return new SomnusError(code, message);
}

/** Somebody who waits for a model to be in a tier without an engine. `ask`: null when it cannot be refused any more. */
interface Move {
  ask: number | null;
  to: "tier2_pinned_ram" | "tier3_nvme_ssd";
}

/** Somebody who asked for a load. */
interface Ask {
  ask: number;
  phase(phase: LoadPhase, percent?: number): void;
}
