import { lossOf } from "../eviction/loss.js";
import type { Bandwidths } from "../machine.js";
import type { Step } from "./ladder.js";
import type { ModelBytes } from "./model-bytes.js";
import type { ModelCost, Resident, Wanted } from "./terms.js";

/** What is assumed where nothing was measured, for weighing only; bytes a second and ms. */
const ASSUMED = { diskToHost: 3e9, hostToDevice: 10e9, host: 20e9 };
/** A device reads its memory so many times faster than a processor reads the host's. */
const DEVICE_OVER_HOST = 10;
/** Where they share the memory, what is left is the speed of computing. */
const DEVICE_OVER_HOST_UNIFIED = 3;
/** Time to start an engine beside moving its weights. */
const START_MS = 400;
/** Tokens that a request is taken to generate, its prompt counted in. */
const TOKENS_PER_REQUEST = 256;
/** Share of the experts that a token uses where the model does not say. */
const EXPERT_SHARE = 1 / 8;
/** A model that is asked for counts for one request in ten minutes at least: the one that waits. */
const WAITING_RATE = 0.1;

/** Time to load a resident again once it is gone, in ms: measured from there, else from its size. */
export function reloadMs(
  one: Pick<Resident, "deviceBytes" | "artifactBytes">,
  from: "tier2_pinned_ram" | "tier3_nvme_ssd",
  cost: ModelCost | undefined,
  speed: Bandwidths,
): number {
  const measured =
    from === "tier2_pinned_ram" ? cost?.reloadMs.fromTier2 : cost?.reloadMs.fromTier3;
  if (measured !== null && measured !== undefined) return measured;
  let onDevices = 0;
  for (const bytes of one.deviceBytes) onDevices += bytes;
  const moving = (onDevices / (speed.hostToDevice ?? ASSUMED.hostToDevice)) * 1000;
  if (from === "tier2_pinned_ram") return START_MS + moving;
  return START_MS + moving + (one.artifactBytes / (speed.diskToHost ?? ASSUMED.diskToHost)) * 1000;
}

/** What it costs that a resident's memory is given up (see `lossOf`). */
export function lossOfResident(
  one: Resident,
  tier2Holds: boolean,
  cost: ModelCost | undefined,
  speed: Bandwidths,
): number {
  const rate = cost?.expectedPerMinute ?? 0;
  const fromDisk = reloadMs(one, "tier3_nvme_ssd", cost, speed);
  if (one.tier === "tier1_gpu_vram") {
    return lossOf(tier2Holds ? reloadMs(one, "tier2_pinned_ram", cost, speed) : fromDisk, rate);
  }
  return lossOf(fromDisk - reloadMs(one, "tier2_pinned_ram", cost, speed), rate);
}

/** What a request takes longer in a layout than with all layers on a device, in ms: the reading of weights on the host. */
export function slowerMs(
  bytes: ModelBytes,
  step: Step,
  wanted: Wanted,
  machine: { unified: boolean; bandwidths: Bandwidths },
): number {
  const n = bytes.layers;
  const firstOnDevice = n - step.gpuLayers;
  const share = wanted.activeExpertShare ?? EXPERT_SHARE;
  const read =
    bytes.weights(0, firstOnDevice) +
    bytes.experts(0, firstOnDevice) * share +
    bytes.experts(Math.max(firstOnDevice, n - step.cpuExpertLayers), n) * share +
    (step.gpuLayers === 0 ? bytes.outputWeights : 0);
  const faster = machine.unified ? DEVICE_OVER_HOST_UNIFIED : DEVICE_OVER_HOST;
  const perToken = (read / (machine.bandwidths.host ?? ASSUMED.host)) * (1 - 1 / faster) * 1000;
  return perToken * TOKENS_PER_REQUEST;
}

/** The rate with which a worse layout is paid for, in requests a minute. */
export function wantedRate(cost: ModelCost | undefined): number {
  return Math.max(WAITING_RATE, cost?.expectedPerMinute ?? 0);
}

/** Time to bring the weights to their place, in ms; null where the way's speed is unmeasured. */
export function transferMs(
  bytes: ModelBytes,
  weightsOnDevices: number,
  wanted: Wanted,
  machine: { unified: boolean; bandwidths: Bandwidths },
): number | null {
  const { diskToHost, hostToDevice } = machine.bandwidths;
  const moved = machine.unified ? 0 : weightsOnDevices;
  if (moved > 0 && hostToDevice === null) return null;
  const up = moved > 0 ? (moved / hostToDevice!) * 1000 : 0;
  if (wanted.tier !== "tier3_nvme_ssd") return up;
  if (diskToHost === null) return null;
  return up + ((bytes.fileWeights + bytes.projectorWeights) / diskToHost) * 1000;
}
