import type { Machine } from "../../machine.js";
import { type Budgets, budgetsOf } from "../budgets.js";

export const GB = 1e9;

/** Budgets of a made-up machine with nothing else on it; sizes in GB of 1e9 bytes. */
export function budgets(
  shape: { vram?: number[]; ram: number; unified?: boolean },
  changes: Partial<Budgets> = {},
): Budgets {
  const machine = madeUp(shape);
  const terms = {
    processMemoryCapBytes: null,
    ownBytes: 0.1 * GB,
    unaccountedDeviceBytes: [],
    unaccountedHostBytes: 0,
  };
  return { ...budgetsOf(machine, terms), ...changes };
}

/** The machine itself. */
export function madeUp({
  vram = [],
  ram,
  unified = false,
}: {
  vram?: number[];
  ram: number;
  unified?: boolean;
}): Machine {
  const devices = unified ? [ram] : vram;
  return {
    accelerator: devices.length === 0 ? "Cpu" : unified ? "AppleMetal" : "NvidiaCuda",
    topology: unified || devices.length === 0 ? "UnifiedMemory" : "DiscretePcie",
    simulated: true,
    name: "made up",
    devices: devices.map((size, index) => ({
      index,
      name: `GPU ${index}`,
      totalBytes: size * GB,
      freeBytes: null,
    })),
    host: {
      totalBytes: ram * GB,
      availableBytes: null,
      containerLimitBytes: null,
      containerUsedBytes: null,
      lockableBytes: Number.POSITIVE_INFINITY,
    },
    processor: { model: null, physicalCores: 8, logicalCores: 16, coreLimit: null },
    bandwidths: { diskToHost: 3 * GB, hostToDevice: 20 * GB, host: 40 * GB },
    measuredAt: 0,
  };
}

export const GPU_24 = budgets({ vram: [24], ram: 64 });
export const TWO_GPUS = budgets({ vram: [24, 24], ram: 128 });
export const GPU_8 = budgets({ vram: [8], ram: 32 });
export const MAC_16 = budgets({ ram: 16, unified: true });
export const CPU_16 = budgets({ ram: 16 });
