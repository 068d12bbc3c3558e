import {
  type EngineFacts,
  LoadError,
  type Loaded,
  type LoadPhase,
  type LoadPlan,
} from "../../engines/index.js";
import { SomnusError, toSomnusError } from "../../http/errors.js";
import type { MemoryTier, Placement } from "../../memory/index.js";
import type { Logger } from "../../observe/index.js";
import { loadFailureCode } from "../decision/backoff.js";
import type { SchedulerEffect, SchedulerEvent } from "../state/state.js";
import { now } from "./clock.js";
import type { Lease } from "./lease.js";
import { OwnedWork } from "./owned-work.js";
import type { Schedulable } from "./schedulable.js";

/** One load's process and what is needed to judge whether it hangs. */
export interface KeptEngine {
  readonly model: Schedulable;
  readonly abort: AbortController;
  readonly startedAt: number;
  readyAt: number;
  loaded: Loaded | null;
  lastOutputAt: number;
  readonly leases: Set<Lease>;
  closing: boolean;
  readonly placement: Placement | null;
  /** Models that had to go for it. */
  readonly evicted: readonly string[];
  /** Conversations that came back with the load. */
  restored: { ms: number; tokens: number } | null;
  /** It does not answer: it is not asked to end, but ended. */
  hangs: boolean;
}

/** A load that went well. */
export interface FinishedLoad {
  model: Schedulable;
  facts: EngineFacts;
  /** Pool context that it was asked for, tokens. */
  contextTokens: number;
  placement: Placement | null;
  /** Where its weights were before. */
  fromTier: MemoryTier;
  ms: number;
}

/** Who hears what becomes of engines. None of it may throw. */
export interface EngineEvents {
  post(event: SchedulerEvent): void;
  phase(model: string, phase: LoadPhase, percent?: number): void;
  /** A load is over, well or with an error. */
  loaded(model: string, error?: SomnusError): void;
  finished(load: Omit<FinishedLoad, "fromTier">): void;
  /** An unloaded engine's process has gone; its memory counts as free when this settles. */
  gone(model: string): Promise<void>;
  /** An unloaded engine has gone, or its end failed. */
  unloaded(model: string, error?: unknown): void;
  /** An engine has come or gone. */
  residency(): void;
}

/** Starts, watches and ends the engines of loaded models; each of its works ends in one event. */
export class KeptEngines {
  readonly #on: EngineEvents;
  readonly #stallMs: number;
  readonly #log: Logger;
  readonly #kept = new Map<string, KeptEngine>();
  /** Loads of which the end is not told yet, by model. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Engines that end, by model: the next load of the model waits for its memory. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #work: OwnedWork;

  /** `stallMs`: an engine without any output for so long is taken to hang. */
  constructor(options: { on: EngineEvents; stallMs: number; log: Logger }) {
    this.#on = options.on;
    this.#stallMs = options.stallMs;
    this.#log = options.log;
    this.#work = new OwnedWork(options.log);
  }

  /** The engine that is loaded or being loaded for a model. */
  get(id: string): KeptEngine | undefined {
    return this.#kept.get(id);
  }

  /** Takes work that goes on beside the engines: close() waits for it, and its failure is logged. */
  own(work: Promise<void>): void {
    void this.#work.own(work);
  }

  /** Begins a load. */
  load(model: Schedulable, effect: Extract<SchedulerEffect, { type: "load" }>): void {
    const load = this.#load(model, effect);
    this.#loading.set(effect.model, load);
    this.own(load);
  }

  /**
   * Begins to end an idle engine, or stops a load: of that nothing else is told then. One that has ended by itself
   * is waited for, with what it held.
   */
  unload(id: string): void {
    this.own(this.#unload(id));
  }

  /**
   * An engine from which nothing came for anybody hangs, and only its end frees the slots. No other
   * request is sent to it from now on.
   */
  judge(engine: KeptEngine, error: unknown): void {
    const hangs =
      error instanceof SomnusError &&
      error.code === "engine_timeout" &&
      now() - engine.lastOutputAt >= this.#stallMs * 0.9;
    if (hangs) this.abandon(engine);
  }

  /** Ends an engine that hangs, at once. */
  abandon(engine: KeptEngine): void {
    if (engine.closing) return;
    const { id } = engine.model.terms;
    this.#log.error({ model: id }, "the engine hangs and is ended");
    void this.#end(engine, "now");
    this.#on.post({ type: "engineExited", model: id, at: now() });
  }

  /** Ends every engine; resolves when all their processes are gone and all work is over. */
  async close(): Promise<void> {
    for (const engine of this.#kept.values()) {
      if (engine.loaded) this.#end(engine, "drain");
      else engine.abort.abort(new SomnusError("shutting_down", "The server is shutting down."));
    }
    await this.#work.settled();
  }

  async #load(
    model: Schedulable,
    { model: id, contextTokens, placement, evicted }: Extract<SchedulerEffect, { type: "load" }>,
  ): Promise<void> {
    const engine: KeptEngine = {
      model,
      abort: new AbortController(),
      startedAt: now(),
      readyAt: 0,
      loaded: null,
      lastOutputAt: Number.NEGATIVE_INFINITY,
      leases: new Set(),
      closing: false,
      placement,
      evicted,
      restored: null,
      hangs: false,
    };
    this.#kept.set(id, engine);
    this.#log.info({ model: id, contextTokens, slots: model.terms.slots }, "loading model");
    try {
      await this.#ending.get(id);
      const keyBefore = await parkingKeyOf(model);
      const loaded = await model.engine.load(
        model.spec,
        {
          ...model.plan,
          ...(placement === null ? {} : asPlanned(placement, model.spec.gguf.layers)),
          slots: model.terms.slots,
          contextTokens,
        },
        (phase, percent) => this.#on.phase(id, phase, percent),
        engine.abort.signal,
      );
      engine.loaded = loaded;
      engine.readyAt = now();
      this.own(this.#watchExit(id, engine, loaded));
      const { slots, contextTokens: had, version } = loaded.facts;
      const key = loaded.slotFiles && keyBefore === (await parkingKeyOf(model)) ? keyBefore : null;
      this.#loading.delete(id);
      if (engine.closing) {
        this.#kept.delete(id);
        await loaded.close("now");
        return;
      }
      const ms = Math.round(engine.readyAt - engine.startedAt);
      this.#log.info({ model: id, ms }, "model loaded");
      this.#on.post({
        type: "loaded",
        model: id,
        slots,
        contextTokens: had,
        ...(key === null ? {} : { parkingKey: `${key}\n${version}` }),
        at: now(),
      });
      this.#on.loaded(id);
      const { facts } = loaded;
      this.#on.finished({ model, facts, contextTokens, placement, ms });
      this.#on.residency();
    } catch (error) {
      this.#kept.delete(id);
      this.#loading.delete(id);
      if (engine.closing) {
        this.#log.info({ model: id, err: error }, "load stopped");
        return;
      }
      const exit = error instanceof LoadError ? error.exit : null;
      const shown = exit
        ? new SomnusError(loadFailureCode(exit.kind), exit.message, { cause: error })
        : toSomnusError(error);
      this.#log.error({ model: id, err: error, engine: exit?.log }, "model failed to load");
      const { code, message } = shown;
      this.#on.post({ type: "loadFailed", model: id, code, message, at: now() });
      this.#on.loaded(id, shown);
    }
  }

  async #watchExit(id: string, engine: KeptEngine, loaded: Loaded): Promise<void> {
    const reason = await loaded.exited;
    if (this.#kept.get(id) === engine) this.#kept.delete(id);
    if (engine.closing) return;
    const { kind, code, signal, log } = reason;
    this.#log.error(
      { model: id, kind, code, signal, engine: log },
      "the engine ended unexpectedly",
    );
    this.#on.post({ type: "engineExited", model: id, at: now() });
  }

  async #unload(id: string): Promise<void> {
    const engine = this.#kept.get(id);
    try {
      const load = this.#loading.get(id);
      if (engine && load) await stop(engine, load);
      else if (engine) await this.#end(engine, engine.hangs ? "now" : "drain");
      // One that hung, and has been told to end.
      else await this.#ending.get(id);
      await this.#on.gone(id);
    } catch (error) {
      this.#on.unloaded(id, error);
      throw error;
    }
    this.#log.info({ model: id }, "model unloaded");
    this.#on.post({ type: "unloaded", model: id, at: now() });
    this.#on.unloaded(id);
    this.#on.residency();
  }

  #end(engine: KeptEngine, how: "drain" | "now"): Promise<void> {
    const { id } = engine.model.terms;
    engine.closing = true;
    if (this.#kept.get(id) === engine) this.#kept.delete(id);
    const closed = engine.loaded!.close(how).finally(() => {
      if (this.#ending.get(id) === closed) this.#ending.delete(id);
    });
    this.#ending.set(id, closed);
    this.own(closed);
    return closed;
  }
}

/** Ends a load that is under way; its process is gone then. */
async function stop(engine: KeptEngine, load: Promise<void>): Promise<void> {
  engine.closing = true;
  engine.abort.abort(new SomnusError("cancelled", "Another model needs the memory."));
  await load;
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

/** Null also when a file cannot be looked at. */
async function parkingKeyOf({ parkingKey }: Schedulable): Promise<string | null> {
  return (await parkingKey?.().catch(() => null)) ?? null;
}
