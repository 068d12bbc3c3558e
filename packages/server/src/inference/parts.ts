import type { Config } from "../config/index.js";
import type { Pool, PoolModel } from "../models/index.js";
import type { Schedulable, Scheduler } from "../scheduling/index.js";

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

/** What the routes of the inference door work with. */
export interface InferenceParts {
  config: Pick<Config, "limits" | "pool">;
  pool: Pool;
  scheduler: Scheduler;
  readiness: Readiness;
  version: string;
  /** The model in the scheduler's terms. @throws SomnusError model_unavailable when it has a problem */
  schedulable(model: PoolModel): Schedulable;
  /** Server uptime in whole seconds. */
  uptimeSecs(): number;
}
