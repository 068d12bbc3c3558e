import type { Artifacts } from "./artifacts/index.js";
import type { EngineBinary, NextEngine } from "./engines/provisioning/index.js";
import { type SomnusError, toSomnusError } from "./http/errors.js";
import type { Readiness } from "./inference/index.js";
import { installVariant, type Pool, type PoolModel } from "./models/index.js";
import { type Logger, type Progress, withoutFolders } from "./observe/index.js";
import type { Schedulable, Scheduler } from "./scheduling/index.js";

/** What startup does, one after the other. */
export type StartupPhase = "models" | "engine" | "download" | "load" | "done";

/** A step of startup, for a terminal or a log. */
export interface StartupProgress {
  phase: StartupPhase;
  /** For people: what goes on. */
  reason: string;
  /** Null when the step cannot tell how far it is. */
  progress: Progress | null;
  failed?: boolean;
  /** What to do about a failure. */
  hint?: string;
}

/** What startup works with. */
export interface StartupParts {
  pool: Pool;
  modelsDir: string;
  artifacts: Artifacts;
  engine: NextEngine;
  scheduler: Scheduler;
  schedulable: (model: PoolModel) => Schedulable;
  /** To be called when the engine is here: what it computes with is known only then. Must not throw. */
  measureMemory: () => Promise<void>;
  log: Logger;
  onProgress: (progress: StartupProgress) => void;
}

/** What each phase does, for whoever asks after it has failed. */
const PHASE_NAMES: Readonly<Record<StartupPhase, string>> = {
  models: "reading the models",
  engine: "bringing the llama.cpp engine",
  download: "fetching models",
  load: "loading models",
  done: "ready",
};

/** Brings the engine and the models that a start needs while the port is open already. */
export class Startup implements Readiness {
  readonly #parts: StartupParts;
  readonly #abort = new AbortController();
  #now: StartupProgress = { phase: "models", reason: PHASE_NAMES.models, progress: null };
  #failure: SomnusError | null = null;

  constructor(parts: StartupParts) {
    this.#parts = parts;
  }

  /** Runs to the end; a step that fails is told and ends it, and the server stays up. */
  async run(): Promise<void> {
    try {
      await this.#readModels();
      await this.#provideEngine();
      await this.#fetchMissing();
      await this.#preload();
      this.#enter({ phase: "done", reason: PHASE_NAMES.done, progress: null });
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#failure = toSomnusError(error);
      this.#parts.log.error({ err: error, phase: this.#now.phase }, "startup failed");
      this.#enter({
        phase: this.#now.phase,
        reason: this.#failure.message,
        progress: null,
        failed: true,
        hint: "When that is done, start the server again.",
      });
    }
  }

  /** Ends what startup does at the moment. */
  stop(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /**
   * The program that runs text models, for a load that starts now.
   * @throws SomnusError why there is none
   */
  async engine(): Promise<EngineBinary> {
    if (this.#parts.engine.current) return this.#parts.engine.forLoad();
    throw this.#failure ?? new Error("The engine was asked for before startup had brought it.");
  }

  /** The step that runs or failed; null when startup is over. */
  current(): StartupProgress | null {
    return this.#now.phase === "done" ? null : this.#now;
  }

  /** What clients are told of the step that runs or failed; null when startup is over. */
  staging(): ReturnType<Readiness["staging"]> {
    const now = this.current();
    if (!now) return null;
    const { progress } = now;
    return {
      reason: now.failed ? withoutFolders(now.reason) : "startup tier initialization in progress",
      phase: now.failed ? PHASE_NAMES[now.phase] : now.reason,
      percent: progress?.total ? Math.min(100, (100 * progress.done) / progress.total) : null,
      etaSecs: progress?.etaSecs ?? null,
      failed: now.failed ?? false,
      ...(now.hint === undefined ? {} : { hint: now.hint }),
    };
  }

  #enter(now: StartupProgress): void {
    this.#now = now;
    this.#parts.onProgress(now);
  }

  #step(phase: StartupPhase, reason: string): (progress: Progress) => void {
    this.#enter({ phase, reason, progress: null });
    return (progress) => this.#enter({ phase, reason: progress.step, progress });
  }

  async #readModels(): Promise<void> {
    this.#step("models", PHASE_NAMES.models);
    const { pool, log } = this.#parts;
    await pool.open();
    for (const { file, reason } of await pool.broken()) {
      log.warn({ manifest: file, reason }, "a model of the library cannot be used");
    }
  }

  async #provideEngine(): Promise<void> {
    const on = this.#step("engine", "looking for the llama.cpp engine");
    const { id, version, origin, path } = await this.#parts.engine.bring(on, this.#abort.signal);
    this.#parts.log.info({ build: id, version, origin, path }, "engine");
    await this.#parts.measureMemory();
  }

  async #fetchMissing(): Promise<void> {
    const { pool, artifacts, modelsDir, log } = this.#parts;
    for (const { model, variant } of await pool.missing()) {
      const on = this.#step("download", `fetching ${model.name}`);
      try {
        await installVariant(variant, { artifacts, modelsDir, on, signal: this.#abort.signal });
      } catch (error) {
        const canServe = pool.list().some((known) => known.enabled && known.problem === null);
        if (this.#abort.signal.aborted || !canServe) throw error;
        // Another model can be served, so this one does not hold the server back.
        log.error({ err: error, model: model.id }, "a model could not be fetched");
      }
    }
    await pool.refresh();
  }

  async #preload(): Promise<void> {
    const { pool, scheduler, schedulable, log } = this.#parts;
    for (const model of pool.list()) {
      if (!model.enabled) continue;
      if (model.problem !== null) {
        log.error({ model: model.id, reason: model.problem }, "a model cannot be served");
        continue;
      }
      const { signal } = this.#abort;
      try {
        if (model.initialTier === "tier1_gpu_vram") {
          this.#step("load", `loading ${model.id}`);
          await scheduler.preload(schedulable(model), () => {}, signal);
        } else if (model.initialTier === "tier2_pinned_ram") {
          this.#step("load", `bringing ${model.id} into memory`);
          await scheduler.keepWeights(schedulable(model), signal);
        }
      } catch (error) {
        if (this.#abort.signal.aborted) throw error;
        log.error({ err: error, model: model.id }, "a startup model could not be loaded");
      }
    }
  }
}
