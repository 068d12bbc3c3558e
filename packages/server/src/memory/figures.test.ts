import { expect, it } from "vitest";
import { figuresOf } from "./figures.js";
import type { Machine } from "./machine.js";
import type { Budgets } from "./planner/budgets.js";

const HOST: Machine["host"] = {
  totalBytes: 1_000,
  availableBytes: 700,
  containerLimitBytes: null,
  containerUsedBytes: null,
  lockableBytes: null,
};
const CPU: Machine = {
  accelerator: "Cpu",
  topology: "UnifiedMemory",
  simulated: false,
  name: "A processor",
  devices: [],
  host: HOST,
  processor: { model: null, physicalCores: 2, logicalCores: 2, coreLimit: null },
  bandwidths: { diskToHost: null, hostToDevice: null, host: null },
  measuredAt: 0,
};
const BUDGETS: Budgets = {
  devices: [],
  host: { bytes: 900, unaccountedBytes: 50 },
  unified: false,
  deviceMapsWeights: false,
  tier2Bytes: 500,
  processMemoryCapBytes: null,
  ownBytes: 20,
  bandwidths: CPU.bandwidths,
};
const booking = (
  artifact: string,
  deviceBytes: number[],
  hostBytes: number,
  mappedBytes: number,
) => ({
  ...{ artifact, artifactBytes: 200, deviceBytes, hostBytes, mappedBytes, keptBytes: 0 },
});

it("books the pages that two models share once", () => {
  const { tier1, poolFreeBytes } = figuresOf(CPU, BUDGETS, [
    booking("one", [], 230, 200),
    booking("one", [], 240, 200),
  ]);
  expect(tier1).toEqual({
    totalBytes: 1_000,
    budgetBytes: 900,
    usedBytes: 270,
    freeBytes: 630,
    unaccountedBytes: 50,
    effectiveFreeBytes: 560,
    realFreeBytes: null,
    realTotalBytes: null,
  });
  expect(poolFreeBytes).toBe(560);
});

it("gives no more than the cap of the process leaves", () => {
  const { tier1 } = figuresOf(CPU, { ...BUDGETS, processMemoryCapBytes: 300 }, [
    booking("one", [], 230, 200),
  ]);
  expect(tier1).toMatchObject({ usedBytes: 230, freeBytes: 670, effectiveFreeBytes: 50 });
});

it("holds what devices report against what is booked there", () => {
  const device = { index: 0, name: "GPU", totalBytes: 600, freeBytes: 150 };
  const gpu: Machine = {
    ...CPU,
    accelerator: "NvidiaCuda",
    topology: "DiscretePcie",
    devices: [device, { ...device, index: 1, freeBytes: 590 }],
  };
  const devices = [
    { name: "GPU", bytes: 580, unaccountedBytes: 100 },
    { name: "GPU", bytes: 580, unaccountedBytes: 0 },
  ];
  const { tier1, tier2, poolFreeBytes } = figuresOf(gpu, { ...BUDGETS, devices }, [
    booking("one", [350, 0], 60, 10),
  ]);
  expect(tier1).toEqual({
    totalBytes: 1_200,
    budgetBytes: 1_160,
    usedBytes: 350,
    freeBytes: 810,
    unaccountedBytes: 100,
    effectiveFreeBytes: 130 + 580,
    realFreeBytes: 740,
    realTotalBytes: 1_200,
  });
  expect(tier2).toEqual({ budgetBytes: 500, usedBytes: 0, freeBytes: 500 });
  expect(poolFreeBytes).toBeNull();
  const lost = { ...gpu, devices: [device, { ...device, freeBytes: null }] };
  expect(figuresOf(lost, { ...BUDGETS, devices }, []).tier1.realFreeBytes).toBeNull();
});
