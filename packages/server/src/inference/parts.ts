import type { Config } from "../config/index.js";
import type { ReadMedia } from "../media/index.js";
import type {
  Figures,
  GpuState,
  KeptFigures,
  KeptStatus,
  Machine,
  ProcessMemory,
} from "../memory/index.js";
import type { Pool, PoolModel } from "../models/index.js";
import type { Schedulable, Scheduler } from "../scheduling/index.js";
import type { ResponseKeeper } from "./response-keeper.js";

/** What the server still does before it serves, for `/ready`. */
export interface Readiness {
  /** Null when staging is over. `failed` with a hint when a step cannot go on by itself. */
  staging(): {
    reason: string;
    phase: string;
    percent: number | null;
    etaSecs: number | null;
    failed: boolean;
    hint?: string;
  } | null;
}

/** What memory holds now, and what is left of it. Bytes; unmeasured is null. */
export interface MemoryReport {
  machine: Machine;
  /** How the device is; null where there is none that tells. */
  gpu: GpuState | null;
  figures: Figures;
  /** Tier 2 as measured, and each file that is kept there. */
  tier2: KeptFigures;
  kept: readonly KeptStatus[];
  /** Of the server and its engines; null where the system does not tell. */
  processes: ProcessMemory | null;
  /** `hardware.max_process_memory_bytes`; null without a cap. */
  capBytes: number | null;
  /** Of the machine that the server runs on, made up or not. */
  installedBytes: number;
  /** Time to have a model back from disk, in ms. `measuredMs`: what its last load took; null before. */
  reloadEstimateMs(model: {
    id: string;
    artifactBytes: number;
    deviceBytes: readonly number[];
    measuredMs: number | null;
  }): number;
}

/** What the routes of the inference door work with. */
export interface InferenceParts {
  config: Pick<Config, "limits" | "pool" | "server">;
  pool: Pool;
  scheduler: Scheduler;
  memory: {
    /** @throws when the machine cannot be read, or the signal's reason */
    report(signal: AbortSignal): Promise<MemoryReport>;
  };
  responses: ResponseKeeper;
  readMedia: ReadMedia;
  readiness: Readiness;
  version: string;
  /**
   * The model in the scheduler's terms, for a request.
   * @throws SomnusError model_unavailable when it has a problem; model_not_found when it is not loaded
   * and requests do not load models
   */
  schedulable(model: PoolModel): Schedulable;
  /** The same for a load that somebody asks for. @throws SomnusError model_unavailable when it has a problem */
  loadable(model: PoolModel): Schedulable;
  /** Why a model's conversations are not parked, for people; null when they can be. */
  whyNotParked(model: PoolModel): string | null;
  /** Server uptime in whole seconds. */
  uptimeSecs(): number;
}
