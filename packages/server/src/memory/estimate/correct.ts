import type { Estimate, Want } from "../estimate-types.js";
import { totalsOf } from "./estimate.js";

/** What a measured load is found again by. */
export interface LoadKey {
  /** Digest of the weights. */
  modelDigest: string;
  /** Version and digest of the engine's program: another build may lay its graph out otherwise. */
  engineBuild: string;
  /** Of `settingsKey`. */
  settings: string;
}

/** What decides the memory of a load beside its model and its engine. */
export interface LoadSettings extends Want {
  gpuLayers: number;
  cpuExpertLayers: number;
  projector: boolean;
  threads: number;
}

/** What an engine held once it could serve; bytes. Unmeasured is null. */
export interface Measurement {
  /** Memory of the process alone: `RssAnon` of /proc/PID/status, or what the system has like it. */
  privateBytes: number | null;
  /** Files that it has mapped and resident, shared ones in full: `RssFile`. */
  mappedBytes: number | null;
  /** All that the process holds on devices, as these tell it. */
  deviceBytes: number | null;
  /** Buffers by the engine's own log, on devices and on the host. */
  buffers: {
    weights: { device: number; host: number };
    kv: { device: number; host: number };
    compute: { device: number; host: number };
    output: { device: number; host: number };
  };
}

/** One row of the history: how a load's memory differed from the formulas. Bytes; plain data, as the store keeps it. */
export interface MeasuredLoad extends LoadKey {
  /** Compute buffers, measured and as estimated for the same load. */
  compute: { device: number; host: number };
  estimatedCompute: { device: number; host: number };
  /** What the process took beside its buffers. Null: not measured. */
  process: { device: number | null; host: number | null };
  /** Milliseconds since 1970. */
  measuredAt: number;
}

/** Settings as one text, the same for equal settings. */
export function settingsKey(settings: LoadSettings): string {
  const { contextTokens, slots, batchTokens, gpuLayers, cpuExpertLayers, threads } = settings;
  return [
    `context=${contextTokens}`,
    `slots=${slots}`,
    `keys=${settings.cacheTypeK ?? "f16"}`,
    `values=${settings.cacheTypeV ?? "f16"}`,
    `batch=${batchTokens}`,
    `full-window=${settings.fullSlidingWindow ?? false}`,
    `flash-attention=${settings.flashAttention ?? true}`,
    ...(settings.vectors === true ? ["vectors=true"] : []),
    `gpu-layers=${gpuLayers}`,
    `cpu-experts=${cpuExpertLayers}`,
    `projector=${settings.projector}`,
    `threads=${threads}`,
  ].join(" ");
}

/**
 * The row that a load leaves behind.
 *
 * @param estimated what the formulas gave for this load, uncorrected
 * @param measuredAt milliseconds since 1970
 */
export function measuredLoad(
  key: LoadKey,
  estimated: Estimate,
  measured: Measurement,
  measuredAt: number,
): MeasuredLoad {
  const { weights, kv, compute, output } = measured.buffers;
  const repacked = estimated.repackedWeights ?? 0;
  // Weights are mapped, except those that are kept a second time: these are part of what the process takes.
  const mappedWeights = Math.max(0, weights.host - repacked);
  const host =
    measured.privateBytes === null || measured.mappedBytes === null
      ? null
      : Math.max(0, measured.privateBytes - kv.host - output.host) +
        Math.max(0, measured.mappedBytes - mappedWeights);
  const device =
    measured.deviceBytes === null
      ? null
      : Math.max(
          0,
          measured.deviceBytes - weights.device - kv.device - compute.device - output.device,
        );
  return {
    ...key,
    compute,
    estimatedCompute: estimated.compute ?? { device: 0, host: 0 },
    process: { device, host },
    measuredAt,
  };
}

/** A ratio outside these is a load that went otherwise, not a formula that is a little off. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 2;

/**
 * An estimate with what loads of the same model by the same engine build have shown. A load with the same settings
 * counts alone, the newest first; else what the process takes and the ratio of the compute buffers are the medians
 * of all. Weights and KV stay by formula. Without such a load the estimate comes back as it is.
 *
 * @param estimated by the formulas, uncorrected
 */
export function correct(
  estimated: Estimate,
  history: readonly MeasuredLoad[],
  key: LoadKey,
): Estimate {
  const ofModel = history.filter(
    (row) => row.modelDigest === key.modelDigest && row.engineBuild === key.engineBuild,
  );
  if (ofModel.length === 0) return estimated;
  const same = ofModel
    .filter((row) => row.settings === key.settings)
    .sort((a, b) => b.measuredAt - a.measuredAt)
    .slice(0, 1);
  const rows = same.length > 0 ? same : ofModel;
  const compute = estimated.compute ?? { device: 0, host: 0 };
  const more = (place: "device" | "host") =>
    Math.round(compute[place] * (computeRatio(rows, place) - 1));
  const corrected: Estimate = {
    ...estimated,
    workspace: {
      device: estimated.workspace.device + more("device"),
      host: estimated.workspace.host + more("host"),
    },
    compute: { device: compute.device + more("device"), host: compute.host + more("host") },
    process: {
      device: median(rows.map((row) => row.process.device)) ?? estimated.process.device,
      // An engine cannot take much less than its program: then its log tells other sizes than it has.
      host: Math.max(
        median(rows.map((row) => row.process.host)) ?? estimated.process.host,
        Math.round(estimated.process.host * LEAST_RATIO),
      ),
    },
  };
  return { ...corrected, correction: totalsOf(corrected).total / totalsOf(estimated).total };
}

function computeRatio(rows: readonly MeasuredLoad[], place: "device" | "host"): number {
  const ratios = rows
    .filter((row) => row.estimatedCompute[place] > 0 && row.compute[place] > 0)
    .map((row) => row.compute[place] / row.estimatedCompute[place]);
  const ratio = median(ratios) ?? 1;
  return Math.min(MOST_RATIO, Math.max(LEAST_RATIO, ratio));
}

function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle]!;
  return sorted.length % 2 === 1 ? high : Math.round((sorted[middle - 1]! + high) / 2);
}
