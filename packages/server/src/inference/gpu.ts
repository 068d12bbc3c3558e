import type { MemoryStatus } from "@somnus/contract";
import type { GpuState } from "../memory/index.js";

/** The `gpu` of a memory status; nothing where no device tells how it is. */
export function gpuOf(state: GpuState | null): Pick<MemoryStatus, "gpu"> {
  if (state === null) return {};
  return {
    gpu: {
      utilization_percent: state.utilizationPercent,
      temperature_celsius: state.temperatureCelsius,
      power_watts: state.powerWatts,
      sm_clock_mhz: state.smClockMhz,
      throttle_reasons: state.throttleReasons,
      throttled: state.throttled,
      ecc_uncorrected_errors: state.eccUncorrectedErrors,
      retired_pages_pending: state.retiredPagesPending,
      sampled_unix_ms: state.sampledAt,
    },
  };
}
