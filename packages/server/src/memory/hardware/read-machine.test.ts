import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { programs, systemWith } from "../../processes/__fixtures__/system.js";
import type { Machine } from "../machine.js";
import * as recorded from "./__fixtures__/nvidia-recordings.js";
import { HANGS, says, withNvidiaSmi } from "./__fixtures__/nvidia-smi.js";
import { type MachineOptions, machineReader, readMachine } from "./read-machine.js";

const config: MachineOptions["config"] = {
  hardware: { cpu_lane: true, kv_park: false, kv_park_max_bytes: 1 },
};
const signal = new AbortController().signal;
const LINUX = {
  "/proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB",
  "/proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X 16-Core Processor",
  "/proc/self/status": "Cpus_allowed_list:\t0-1",
  "/sys/devices/system/cpu/cpu0/topology/core_id": "0",
  "/sys/devices/system/cpu/cpu1/topology/core_id": "0",
  "/proc/self/cgroup": "0::/app",
  "/sys/fs/cgroup/app/cpu.max": "150000 100000",
  "/sys/fs/cgroup/app/memory.max": "4294967296",
  "/sys/fs/cgroup/app/memory.current": "1073741824",
};
const amd = (minor: number, more: Record<string, string> = {}) => ({
  [`/dev/dri/renderD${minor}`]: "",
  "/dev/kfd": "",
  ...Object.fromEntries(
    Object.entries({
      vendor: "0x1002",
      product_name: `AMD ${minor}`,
      gpu_busy_percent: "0",
      mem_info_vram_total: "8589934592",
      mem_info_vram_used: "1073741824",
      ...more,
    }).map(([name, text]) => [`/sys/class/drm/renderD${minor}/device/${name}`, text]),
  ),
});

async function read(
  files: Record<string, string>,
  options: Partial<MachineOptions> = {},
): Promise<Machine> {
  return readMachine({
    ...{ env: { PATH: "" }, config, signal, platform: "linux", nvidiaSmiPlaces: [] },
    files: await systemWith({ ...LINUX, ...files }),
    ...options,
  });
}

it("has host memory for tier 1 where there is no accelerator", async () => {
  const before = Date.now();
  const machine = await read({});
  expect(machine).toEqual({
    accelerator: "Cpu",
    topology: "UnifiedMemory",
    simulated: false,
    name: "AMD Ryzen 9 7950X 16-Core Processor",
    devices: [],
    host: {
      totalBytes: 2 ** 34,
      availableBytes: 2 ** 33,
      containerLimitBytes: 2 ** 32,
      containerUsedBytes: 2 ** 30,
      lockableBytes: null,
    },
    processor: {
      model: "AMD Ryzen 9 7950X 16-Core Processor",
      physicalCores: 1,
      logicalCores: 2,
      coreLimit: 1.5,
    },
    bandwidths: { diskToHost: null, hostToDevice: null, host: null },
    measuredAt: expect.any(Number),
  });
  expect(machine.measuredAt).toBeGreaterThanOrEqual(before);
});

it("prefers cards to the graphics unit inside of the processor, and keeps their numbers", async () => {
  const card = amd(129, { mem_busy_percent: "0" });
  const machine = await read({ ...amd(128, { mem_info_gtt_total: "8589934592" }), ...card });
  expect(machine).toMatchObject({
    accelerator: "AmdRocm",
    topology: "DiscretePcie",
    name: "AMD 129",
    devices: [{ index: 1, name: "AMD 129" }],
  });
});

it("shares the memory where the processor's own graphics unit is all there is", async () => {
  const bandwidths = () => ({ diskToHost: 1, hostToDevice: null, host: 3 });
  const machine = await read(amd(128, { mem_info_gtt_total: "8589934592" }), { bandwidths });
  expect(machine).toMatchObject({
    topology: "UnifiedMemory",
    devices: [{ totalBytes: 2 ** 34 }],
    bandwidths: { diskToHost: 1, hostToDevice: 3, host: 3 },
  });
});

it("uses only what an engine can compute with", async () => {
  const files = amd(128, { mem_busy_percent: "0" });
  const accelerator = async (...accelerators: Machine["accelerator"][]) =>
    (await read(files, { accelerators })).accelerator;
  expect(await accelerator("Vulkan")).toBe("Vulkan");
  expect(await accelerator("NvidiaCuda")).toBe("Cpu");
  expect(await accelerator()).toBe("Cpu");
});

it("can be made up by the configuration", async () => {
  const simulate = { name: "Dream card", vram_bytes: 2 ** 34 };
  const machine = await read({}, { config: { hardware: { ...config.hardware, simulate } } });
  expect(machine).toMatchObject({ simulated: true, name: "Dream card", accelerator: "NvidiaCuda" });
});

it("is not read for one who has left", async () => {
  const reading = machineReader({ env: { PATH: "" }, config })(
    AbortSignal.abort(new Error("gone")),
  );
  await expect(reading).rejects.toThrow("gone");
});

describe.runIf(process.platform !== "win32")("with programs to ask", () => {
  it("names several cards of a kind together", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.TWO_CARDS) });
    expect(await read({}, { env })).toMatchObject({
      accelerator: "NvidiaCuda",
      topology: "DiscretePcie",
      name: "2 x Quadro RTX 4000",
      devices: [{ index: 0 }, { index: 1 }],
    });
  });

  it("gives a unit that shares the memory all of it", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.GRACE_BLACKWELL) });
    expect(await read({}, { env })).toMatchObject({
      topology: "UnifiedMemory",
      devices: [{ name: "NVIDIA GB10", totalBytes: 2 ** 34, freeBytes: null }],
    });
  });

  it("goes on without a card whose driver fails, and tells", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.NO_DRIVER, 9) });
    const machine = await read({}, { env });
    expect(machine.accelerator).toBe("Cpu");
    expect(machine.problems).toEqual([expect.stringContaining("NVIDIA driver")]);
  });

  it("goes on without an nvidia-smi that hangs", async () => {
    const env = await withNvidiaSmi({ query: HANGS });
    const machine = await read({}, { env, timeoutMs: 200 });
    expect(machine).toMatchObject({ accelerator: "Cpu", host: { totalBytes: 2 ** 34 } });
    expect(machine.problems).toHaveLength(1);
  });

  it("does not lose a card whose driver does not answer for once", async () => {
    const env = await withNvidiaSmi({ query: says(recorded.TWO_CARDS) });
    const reading = machineReader({
      ...{ env, config, platform: "linux", nvidiaSmiPlaces: [] },
      files: await systemWith(LINUX),
    });
    expect((await reading(signal)).devices).toMatchObject([{ freeBytes: 7969 * 2 ** 20 }, {}]);
    await writeFile(join(env.PATH, "nvidia-smi"), `#!/bin/sh\n${says(recorded.NO_DRIVER, 9)}\n`);
    for (let i = 0; i < 2; i++) {
      expect(await reading(signal)).toMatchObject({
        accelerator: "NvidiaCuda",
        devices: [{ totalBytes: 8192 * 2 ** 20, freeBytes: null }, { freeBytes: null }],
        problems: [expect.stringContaining("NVIDIA driver")],
      });
    }
  });

  it("reads a Mac", async () => {
    const env = await programs({
      sysctl:
        "echo 'hw.memsize: 34359738368'; echo 'machdep.cpu.brand_string: Apple M2 Max'; echo 'hw.physicalcpu: 12'; echo 'hw.logicalcpu: 12'",
      vm_stat: "exit 1",
    });
    const mac = (arch: string) => read({}, { env, platform: "darwin", arch });
    expect(await mac("arm64")).toMatchObject({
      accelerator: "AppleMetal",
      topology: "UnifiedMemory",
      name: "Apple M2 Max",
      host: { totalBytes: 2 ** 35, availableBytes: null, containerLimitBytes: null },
      processor: { physicalCores: 12 },
    });
    expect((await mac("x64")).accelerator).toBe("Cpu");
  });
});

it("is read within 20 ms where no program has to be asked", async () => {
  const reading = machineReader({ env: { PATH: "" }, config, nvidiaSmiPlaces: [] });
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const begun = performance.now();
    await reading(signal);
    times.push(performance.now() - begun);
  }
  // The quickest: a machine with other work stalls any single one.
  expect(Math.min(...times)).toBeLessThan(20);
});
