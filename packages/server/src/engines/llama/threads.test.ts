import { describe, expect, it } from "vitest";
import type { LogicalCpu } from "../../processes/index.js";
import { computeThreads, readMachineCpus } from "./threads.js";

function cores(count: number, threadsEach = 1, capacity: number | null = null): LogicalCpu[] {
  return Array.from({ length: count * threadsEach }, (_, id) => ({
    id,
    core: `0/${id % count}`,
    capacity,
  }));
}

describe("computeThreads", () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
    [8, 7],
    [64, 63],
  ])("gives %i cores %i threads", (count, threads) => {
    expect(computeThreads({ cpus: cores(count), quota: null })).toBe(threads);
  });

  it("counts a core with two threads once", () => {
    expect(computeThreads({ cpus: cores(6, 2), quota: null })).toBe(5);
  });

  it("counts each processor where cores are not told apart", () => {
    const cpus = cores(3).map((cpu) => ({ ...cpu, core: null }));
    expect(computeThreads({ cpus, quota: null })).toBe(3);
  });

  it("leaves efficiency cores out", () => {
    const cpus = [
      ...cores(4, 2, 1024),
      ...cores(8, 1, 600).map((cpu) => ({ ...cpu, core: `e${cpu.id}` })),
    ];
    expect(computeThreads({ cpus, quota: null })).toBe(3);
  });

  it("respects the quota of the control group, and never falls to none", () => {
    expect(computeThreads({ cpus: cores(16), quota: 2.5 })).toBe(2);
    expect(computeThreads({ cpus: cores(16), quota: 6 })).toBe(5);
    expect(computeThreads({ cpus: cores(16), quota: 0.5 })).toBe(1);
    expect(computeThreads({ cpus: [], quota: null })).toBe(1);
  });
});

it("finds at least one processor on this machine", async () => {
  expect((await readMachineCpus()).cpus.length).toBeGreaterThan(0);
});
