import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { print, programs } from "../../processes/__fixtures__/system.js";
import type { Machine } from "../machine.js";
import { HANGS } from "./__fixtures__/nvidia-smi.js";
import { GpuWatch, type GpuWatchOptions } from "./gpu-watch.js";

const CARD = {
  ...{ accelerator: "NvidiaCuda", simulated: false },
  devices: [{ index: 0, name: "Card", totalBytes: 1, freeBytes: null }],
} as unknown as Machine;
const ROW = "GPU-1, 87, 71, 148.20, 2400, 0x4, 0, No";

async function setUp(answer = print(ROW), options: Partial<GpuWatchOptions> = {}) {
  const { PATH } = await programs({
    "nvidia-smi": `echo asked >> "\${0%/*}/calls"\n${answer}`,
  });
  const calls = async () =>
    (await readFile(join(PATH, "calls"), "utf8").catch(() => "")).split("\n").length - 1;
  return { watch: new GpuWatch({ env: { PATH }, places: [], ...options }), calls };
}

/** Looks until there is a sample. */
async function sampled(watch: GpuWatch) {
  for (;;) {
    const state = watch.latest(CARD);
    if (state !== null) return state;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.runIf(process.platform !== "win32")("the watch of a device", () => {
  it("answers at once, and asks nvidia-smi once in a while however often it is looked at", async () => {
    const { watch, calls } = await setUp();
    expect(watch.latest(CARD)).toBeNull();
    expect(await sampled(watch)).toMatchObject({ utilizationPercent: 87 });
    for (let i = 0; i < 100; i++) watch.latest(CARD);
    await watch.close();
    expect(await calls()).toBe(1);
  });

  it("renews a sample that is old, and shows it meanwhile", async () => {
    const { watch, calls } = await setUp(print(ROW), { maxAgeMs: 0 });
    const first = await sampled(watch);
    expect(watch.latest(CARD)).not.toBeNull();
    while (watch.latest(CARD) === first) await new Promise((resolve) => setImmediate(resolve));
    await watch.close();
    expect(await calls()).toBeGreaterThanOrEqual(2);
  });

  it("asks nothing on another machine or a made-up one", async () => {
    const { watch, calls } = await setUp();
    for (const other of [
      { ...CARD, simulated: true },
      { ...CARD, accelerator: "Cpu", devices: [] },
      { ...CARD, accelerator: "AmdRocm" },
    ] as Machine[]) {
      expect(watch.latest(other)).toBeNull();
    }
    await watch.close();
    expect(await calls()).toBe(0);
  });

  it("is closed while nvidia-smi hangs", async () => {
    const { watch } = await setUp(HANGS);
    watch.latest(CARD);
    await watch.close();
    expect(watch.latest(CARD)).toBeNull();
  });
});
