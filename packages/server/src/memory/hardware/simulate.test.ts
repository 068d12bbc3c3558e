import { expect, it } from "vitest";
import type { Machine } from "../machine.js";
import { simulatedMachine } from "./simulate.js";

const GiB = 2 ** 30;
const real: Machine = {
  accelerator: "Cpu",
  topology: "UnifiedMemory",
  simulated: false,
  name: "A processor",
  devices: [],
  host: {
    totalBytes: 16 * GiB,
    availableBytes: 10 * GiB,
    containerLimitBytes: 8 * GiB,
    containerUsedBytes: GiB,
    lockableBytes: 8 * 2 ** 20,
  },
  processor: { model: "A processor", physicalCores: 4, logicalCores: 8, coreLimit: 2 },
  bandwidths: { diskToHost: 1e9, hostToDevice: null, host: 5e9 },
  measuredAt: 1,
};

it("puts a made-up card beside the real rest", () => {
  const machine = simulatedMachine(real, {
    name: "Dream card",
    vram_bytes: 24 * GiB,
    host_to_device_bytes_per_sec: 25e9,
  });
  expect(machine).toEqual({
    ...real,
    accelerator: "NvidiaCuda",
    topology: "DiscretePcie",
    simulated: true,
    name: "Dream card",
    devices: [{ index: 0, name: "Dream card", totalBytes: 24 * GiB, freeBytes: null }],
    bandwidths: { diskToHost: 1e9, hostToDevice: 25e9, host: 5e9 },
  });
});

it("shares the memory where that is asked for", () => {
  const machine = simulatedMachine(real, { unified_memory: true, ram_bytes: 64 * GiB });
  expect(machine).toMatchObject({
    accelerator: "AppleMetal",
    topology: "UnifiedMemory",
    devices: [{ totalBytes: 64 * GiB }],
  });
  const smaller = simulatedMachine(real, { unified_memory: true, vram_bytes: 12 * GiB });
  expect(smaller.devices).toMatchObject([{ totalBytes: 12 * GiB }]);
});

it("has a host of the size that is asked for, in which what is in use stays in use", () => {
  const { host } = simulatedMachine(real, { ram_bytes: 64 * GiB, disk_bytes_per_sec: 7e9 });
  expect(host).toEqual({
    totalBytes: 64 * GiB,
    availableBytes: 58 * GiB,
    containerLimitBytes: null,
    containerUsedBytes: null,
    lockableBytes: real.host.lockableBytes,
  });
  expect(simulatedMachine(real, { ram_bytes: 4 * GiB }).host.availableBytes).toBe(0);
  expect(simulatedMachine(real, { vram_bytes: GiB }).host).toEqual(real.host);
});

it("has no device where none is asked for", () => {
  expect(simulatedMachine(real, { vram_bytes: 0 })).toMatchObject({
    ...{ accelerator: "Cpu", topology: "UnifiedMemory", devices: [], simulated: true },
  });
});

it("takes a device for itself, whatever the real machine could not read", () => {
  const broken = { ...real, problems: ["nvidia-smi does not answer"] };
  expect(simulatedMachine(broken, { vram_bytes: GiB })).not.toHaveProperty("problems");
});
