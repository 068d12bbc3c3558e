import type { ModelBytes } from "./model-bytes.js";
import type { Wanted } from "./terms.js";

/** One way to lay a model out over devices and host. */
export interface Step {
  /** Layers on devices, counted from the last; 0 leaves all to the CPU. */
  gpuLayers: number;
  /** Of those the last ones whose experts are on the host. */
  cpuExpertLayers: number;
}

/** The layouts that may be tried, best first: each needs less of the devices and more of the host than the one before. */
export interface Ladder {
  onDevices: Step[];
  /** Whether the model may run on the CPU alone. */
  cpu: boolean;
}

/** The CPU alone. */
export const CPU_STEP: Step = { gpuLayers: 0, cpuExpertLayers: 0 };

/**
 * The layouts that a model's settings allow: whole, then the experts of ever more layers on the host,
 * then ever fewer layers on devices.
 */
export function ladderOf(
  wanted: Wanted,
  bytes: ModelBytes,
  machine: { devices: number; unified: boolean },
): Ladder {
  if (machine.devices === 0 || wanted.gpuLayers === 0) return { onDevices: [], cpu: true };
  const n = bytes.layers;
  const fixed = wanted.gpuLayers === "auto" ? null : Math.min(wanted.gpuLayers, n);
  const most = fixed ?? n;
  const [firstExperts, lastExperts] = expertRange(wanted, bytes, machine.unified);
  const onDevices: Step[] = [];
  for (let k = firstExperts; k <= lastExperts; k++) {
    // Beyond the layers on devices there are no more experts to move.
    if (k > most && k > firstExperts) break;
    onDevices.push({ gpuLayers: most, cpuExpertLayers: Math.min(k, most) });
  }
  if (fixed !== null) return { onDevices, cpu: false };
  const ratio = wanted.minGpuLayerRatio ?? 0;
  const fewest = Math.max(1, Math.ceil(ratio * n - 1e-9));
  for (let layers = n - 1; layers >= fewest; layers--) {
    onDevices.push({ gpuLayers: layers, cpuExpertLayers: Math.min(lastExperts, layers) });
  }
  return { onDevices, cpu: ratio <= 0 };
}

/** Layers with their experts on the host: as few as tried first, and as many as allowed. */
function expertRange(wanted: Wanted, bytes: ModelBytes, unified: boolean): [number, number] {
  if (!bytes.hasExperts) return [0, 0];
  if (wanted.cpuExpertLayers !== null) {
    const fixed = Math.min(wanted.cpuExpertLayers, bytes.layers);
    return [fixed, fixed];
  }
  if (wanted.moeOffload === "on") return [bytes.layers, bytes.layers];
  // On unified memory an expert takes the same memory wherever it runs.
  if (wanted.moeOffload === "auto" && !unified) return [0, bytes.layers];
  return [0, 0];
}
