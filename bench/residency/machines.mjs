const GB = 1e9;

const machine = (name, { vram = [], ram, unified = false, disk }) => ({
  name,
  accelerator: vram.length === 0 ? "Cpu" : unified ? "AppleMetal" : "NvidiaCuda",
  topology: unified || vram.length === 0 ? "UnifiedMemory" : "DiscretePcie",
  simulated: true,
  devices: vram.map((size, index) => ({
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
  bandwidths: { diskToHost: disk * GB, hostToDevice: 20 * GB, host: 40 * GB },
  measuredAt: 0,
});

/** The made-up machines that traces run on. */
export const MACHINES = {
  gpu8: machine("8 GB GPU", { vram: [8], ram: 32, disk: 2.5 }),
  gpu24: machine("24 GB GPU", { vram: [24], ram: 64, disk: 3 }),
  gpus48: machine("2 x 24 GB GPU", { vram: [24, 24], ram: 128, disk: 3 }),
  mac16: machine("16 GB unified", { vram: [16], ram: 16, unified: true, disk: 3 }),
  cpu16: machine("16 GB, no GPU", { ram: 16, disk: 1 }),
};
