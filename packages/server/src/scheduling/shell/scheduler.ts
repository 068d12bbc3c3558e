import type { LoadPhase } from "../../engines/index.js";
import type { GenerationRequest } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import {
  type Booking,
  type Eviction,
  EvictionHistory,
  type ParkingFolder,
  type ParkingSettings,
} from "../../memory/index.js";
import type { Logger } from "../../observe/index.js";
import { decide } from "../decision/decide.js";
import type { Applies } from "../decision/moe-offload.js";
import { type ParkingReport, reportOf } from "../parking/report.js";
import { bookingsOf } from "../placement/plan-input.js";
import { type Preview, preview } from "../placement/preview.js";
import type { MemoryState, MemoryTerms } from "../state/memory-terms.js";
import { newModel } from "../state/model-state.js";
import {
  createState,
  type EvictedFor,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerLimits,
} from "../state/state.js";
import { estimatedWaitMs } from "../waits/estimated-wait.js";
import { newcomer } from "../waits/newcomer.js";
import { activityOf, type ModelActivity } from "./activity.js";
import { Admissions, type AdmitOptions } from "./admissions.js";
import { now } from "./clock.js";
import { KeptConversations } from "./kept-conversations.js";
import { type FinishedLoad, KeptEngines } from "./kept-engines.js";
import { type KeptTime, keptTimes } from "./kept-times.js";
import { KeptWeights, type WeightsKeeper } from "./kept-weights.js";
import type { Lease } from "./lease.js";
import { refusalOf } from "./refusal.js";
import type { Schedulable } from "./schedulable.js";
import { TierMoves } from "./tier-moves.js";
import { Timer } from "./timer.js";
import { Waiters } from "./waiters.js";
import { generationWork, type Work } from "./work.js";

/**
 * Decides when a request runs, and runs the effects of that decision. Only this shell holds engines;
 * all pool, lease and slot state changes through `decide`.
 */
export class Scheduler {
  readonly #state;
  readonly #log: Logger;
  readonly #engines: KeptEngines;
  readonly #conversations: KeptConversations;
  readonly #admissions: Admissions;
  readonly #models = new Map<string, Schedulable>();
  readonly #evictions = new EvictionHistory();
  readonly #loads = new Waiters<Ask>();
  readonly #unloads = new Waiters<null>();
  readonly #weights: KeptWeights;
  readonly #moves: TierMoves;
  /** Who set the experts' place and waits to hear when it applies, in the order of their events. */
  readonly #offloads: { model: string; resolve(applies: Applies): void }[] = [];
  readonly #inbox: SchedulerEvent[] = [];
  #deciding = false;
  #nextAsk = 1;
  readonly #timer = new Timer(() => this.#post({ type: "tick", at: now() }));

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
    this.#moves = new TierMoves(this.#state);
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
    this.#admissions = new Admissions({
      state: this.#state,
      engines: this.#engines,
      models: this.#models,
      post: (event) => this.#post(event),
    });
  }

  /**
   * Waits until the request may run and gives its lease; loads the model first where needed.
   * `onAdmitted` is called at once unless the request is refused, with the wait that is expected (ms, null where
   * nothing tells); it must not throw.
   * @throws SomnusError when it is refused, or the signal's reason when that fires first
   */
  admit(model: Schedulable, request: GenerationRequest, options: AdmitOptions): Promise<Lease> {
    return this.admitWork(model, generationWork(request), options);
  }

  /** The same for other work than answering a conversation. */
  admitWork(model: Schedulable, work: Work, options: AdmitOptions): Promise<Lease> {
    return this.#admissions.admit(model, work, options);
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
    const moved = this.#moves.wait(id, "tier2_pinned_ram", ask, signal);
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
      const moved = this.#moves.wait(id, "tier3_nvme_ssd", null, signal);
      this.#moves.settle();
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
    const loaded = this.#engines.get(id)?.loaded ?? null;
    return activityOf(this.#state.models.get(id), loaded, now());
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
    this.#timer.set(null);
  }

  #post(event: SchedulerEvent): void {
    this.#inbox.push(event);
    if (this.#deciding) return;
    this.#deciding = true;
    try {
      for (let next = this.#inbox.shift(); next; next = this.#inbox.shift()) {
        for (const effect of decide(this.#state, next)) this.#run(effect);
      }
      this.#moves.settle();
    } finally {
      this.#deciding = false;
    }
  }

  #run(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "admitted":
        this.#admissions.admitted(effect);
        break;
      case "grant":
        this.#admissions.grant(effect);
        break;
      case "refuse":
        this.#admissions.refuse(effect);
        break;
      case "load":
        if (effect.request !== null) this.#admissions.causedLoad(effect.request);
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
      case "keepRefused":
        this.#moves.refuse(effect);
        break;
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
        this.#engines.own(this.#admissions.count(effect));
        break;
      case "timer":
        this.#timer.set(effect.at);
        break;
    }
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
}

/** Somebody who asked for a load. */
interface Ask {
  ask: number;
  phase(phase: LoadPhase, percent?: number): void;
}
