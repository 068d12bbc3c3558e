import type { Config } from "../../config/index.js";
import type { Machine } from "../machine.js";

type Simulation = NonNullable<Config["hardware"]["simulate"]>;

/**
 * The machine that `hardware.simulate` describes, for planner and status: what it leaves out is as it
 * really is. No device says what is free on a made-up one. Without `vram_bytes` it has no device of its
 * own, and with `unified_memory` one that shares the whole memory.
 */
export function simulatedMachine(real: Machine, simulation: Simulation): Machine {
  const unified = simulation.unified_memory === true;
  const totalBytes = simulation.ram_bytes ?? real.host.totalBytes;
  const deviceBytes = simulation.vram_bytes ?? (unified ? totalBytes : 0);
  const name = simulation.name ?? (deviceBytes > 0 ? "Simulated GPU" : "Simulated machine");
  const { host, bandwidths } = real;
  return {
    accelerator: deviceBytes === 0 ? "Cpu" : unified ? "AppleMetal" : "NvidiaCuda",
    topology: deviceBytes === 0 || unified ? "UnifiedMemory" : "DiscretePcie",
    simulated: true,
    name,
    devices:
      deviceBytes === 0 ? [] : [{ index: 0, name, totalBytes: deviceBytes, freeBytes: null }],
    host: simulation.ram_bytes === undefined ? host : hostOfSize(host, totalBytes),
    processor: real.processor,
    bandwidths: {
      diskToHost: simulation.disk_bytes_per_sec ?? bandwidths.diskToHost,
      hostToDevice: simulation.host_to_device_bytes_per_sec ?? bandwidths.hostToDevice,
      host: bandwidths.host,
    },
    measuredAt: real.measuredAt,
  };
}

/** What is in use stays in use; a container's limit is none of the made-up machine. */
function hostOfSize(host: Machine["host"], totalBytes: number): Machine["host"] {
  const inUse = host.availableBytes === null ? null : host.totalBytes - host.availableBytes;
  return {
    totalBytes,
    availableBytes: inUse === null ? null : Math.max(0, totalBytes - inUse),
    containerLimitBytes: null,
    containerUsedBytes: null,
    lockableBytes: host.lockableBytes,
  };
}
