import type { Step } from "./ladder.js";
import type { ModelBytes } from "./model-bytes.js";

/** Layers and bytes on each device. */
export interface Spread {
  layersOnDevice: number[];
  deviceBytes: number[];
}

/**
 * Whether a layout's layers fit devices with so much free memory: one device after another takes the
 * next layers, as many as fit beside its own buffers. More memory anywhere never makes it fit less.
 */
export function canSpread(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  free: Float64Array,
): boolean {
  let layer = bytes.layers - step.gpuLayers;
  let first = true;
  for (let device = 0; device < free.length; device++) {
    const end = reach(bytes, step, contextTokens, layer, first, free[device]!);
    if (end === layer) continue;
    if (end === bytes.layers) return true;
    layer = end;
    first = false;
  }
  return false;
}

/** Where the layers go: on as few devices as can hold them, on the fullest one when one is enough. Null when they do not fit. */
export function spread(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  free: Float64Array,
): Spread | null {
  const start = bytes.layers - step.gpuLayers;
  let tightest = -1;
  for (let device = 0; device < free.length; device++) {
    const end = reach(bytes, step, contextTokens, start, true, free[device]!);
    if (end !== bytes.layers) continue;
    if (tightest < 0 || free[device]! < free[tightest]!) tightest = device;
  }
  if (tightest >= 0) return fill(bytes, step, contextTokens, free, [tightest]);
  const roomiestFirst = [...free.keys()].sort((a, b) => free[b]! - free[a]! || a - b);
  for (let count = 2; count <= free.length; count++) {
    const used = roomiestFirst.slice(0, count).sort((a, b) => a - b);
    const filled = fill(bytes, step, contextTokens, free, used);
    if (filled) return filled;
  }
  return null;
}

function fill(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  free: Float64Array,
  devices: readonly number[],
): Spread | null {
  const layersOnDevice = new Array<number>(free.length).fill(0);
  const deviceBytes = new Array<number>(free.length).fill(0);
  let layer = bytes.layers - step.gpuLayers;
  let first = true;
  for (const device of devices) {
    const end = reach(bytes, step, contextTokens, layer, first, free[device]!);
    if (end === layer) continue;
    layersOnDevice[device] = end - layer;
    deviceBytes[device] = Math.ceil(run(bytes, step, contextTokens, layer, end, first));
    layer = end;
    first = false;
  }
  return layer === bytes.layers ? { layersOnDevice, deviceBytes } : null;
}

/** The layer up to which a device can take the layers from `from`; `from` when it can take none. */
function reach(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  from: number,
  first: boolean,
  free: number,
): number {
  const room = Math.floor(free);
  if (run(bytes, step, contextTokens, from, bytes.layers, first) <= room) return bytes.layers;
  let low = from;
  let high = bytes.layers - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (run(bytes, step, contextTokens, from, middle, first) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Bytes on a device that holds the layers `from` up to `to`. The projector goes with the first, the output with the last. */
function run(
  bytes: ModelBytes,
  step: Step,
  contextTokens: number,
  from: number,
  to: number,
  first: boolean,
): number {
  const withExperts = Math.min(to, bytes.layers - step.cpuExpertLayers);
  return (
    bytes.weights(from, to) +
    bytes.kv(from, to, contextTokens) +
    bytes.experts(from, withExperts) +
    bytes.deviceOverhead(contextTokens) +
    (first ? bytes.projectorWeights : 0) +
    (to === bytes.layers ? bytes.outputWeights : 0)
  );
}
