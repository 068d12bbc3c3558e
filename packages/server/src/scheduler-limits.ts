import type { Config } from "./config/index.js";
import type { SchedulerLimits } from "./scheduling/index.js";

/** The scheduler's limits over all models, as the configuration has them. */
export function schedulerLimitsOf({
  limits,
  hardware,
}: Pick<Config, "limits" | "hardware">): SchedulerLimits {
  const { queue_timeout_secs: secs } = limits;
  return {
    maxRunning: limits.max_running ?? null,
    maxQueue: limits.max_queue ?? null,
    queueTimeoutMs: secs === undefined ? null : secs * 1_000,
    lane: hardware.cpu_lane,
  };
}
