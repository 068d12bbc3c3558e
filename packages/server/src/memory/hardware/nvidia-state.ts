import { askProgram } from "./ask-program.js";
import { findNvidiaSmi, type NvidiaOptions } from "./nvidia.js";
import { visibleOnly } from "./visible-devices.js";

/** How a device is at a moment. What it does not tell is null. */
export interface GpuState {
  utilizationPercent: number | null;
  temperatureCelsius: number | null;
  powerWatts: number | null;
  /** Of its multiprocessors. */
  smClockMhz: number | null;
  /** NVML's bits of what sets its clocks now (nvmlClocksEventReasons). */
  throttleReasons: number | null;
  /** Whether heat or a limit of power holds its clocks down. */
  throttled: boolean | null;
  /** Since the driver was loaded. */
  eccUncorrectedErrors: number | null;
  /** Whether memory that is worn out will be taken out of use at the next restart. */
  retiredPagesPending: boolean | null;
  /** Milliseconds since 1970. */
  sampledAt: number;
}

/** What nvidia-smi ends with when it does not know an argument. */
const BAD_ARGUMENT = 2;
/** As drivers call it since 535, and before. */
const REASONS = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"] as const;
/**
 * Power cap, hardware slowdown, software and hardware thermal slowdown, power brake
 * (https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html). An idle device, and clocks that
 * somebody has set, are no throttling.
 */
const THROTTLING = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

/**
 * How the first device is that CUDA_VISIBLE_DEVICES leaves; null where there is none, or nvidia-smi does not tell
 * (https://docs.nvidia.com/deploy/nvidia-smi/).
 * @throws the signal's reason when it fires
 */
export async function readGpuState(options: NvidiaOptions): Promise<GpuState | null> {
  const program = await findNvidiaSmi(options);
  if (program === null) return null;
  for (const reasons of REASONS) {
    const fields = [
      "uuid",
      "utilization.gpu",
      "temperature.gpu",
      "power.draw",
      "clocks.sm",
      reasons,
      "ecc.errors.uncorrected.volatile.total",
      "retired_pages.pending",
    ];
    const args = [`--query-gpu=${fields.join(",")}`, "--format=csv,noheader,nounits"];
    const answer = await askProgram(program, args, options);
    if (answer.kind === "ended" && answer.code === BAD_ARGUMENT) continue;
    if (answer.kind !== "ended") return null;
    const rows = answer.stdout
      .split(/\r?\n/)
      .map((line) => line.split(",").map((value) => value.trim()))
      .filter((values) => values.length === fields.length);
    const { visible } = visibleOnly(options.env.CUDA_VISIBLE_DEVICES, rows, ([uuid = ""]) => uuid);
    return visible[0] === undefined ? null : stateOf(visible[0]);
  }
  return null;
}

function stateOf([, busy, temperature, power, clock, reasons, ecc, retired]: string[]): GpuState {
  const bits = /^0x[0-9a-f]+$/i.test(reasons ?? "") ? Number(reasons) : null;
  return {
    utilizationPercent: numberIn(busy),
    temperatureCelsius: numberIn(temperature),
    powerWatts: numberIn(power),
    smClockMhz: numberIn(clock),
    throttleReasons: bits,
    throttled: bits === null ? null : (bits & THROTTLING) !== 0,
    eccUncorrectedErrors: numberIn(ecc),
    retiredPagesPending: retired === "Yes" ? true : retired === "No" ? false : null,
    sampledAt: Date.now(),
  };
}

/** Null for what stands in a number's place: "[N/A]", "[Not Supported]", "[GPU requires reset]". */
function numberIn(text = ""): number | null {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;
}
