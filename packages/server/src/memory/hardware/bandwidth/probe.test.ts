import { mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryFolder } from "../../../processes/__fixtures__/system.js";
import { keptBandwidths, type ProbeOptions, probeBandwidths } from "./probe.js";

const MiB = 2 ** 20;
const machine: ProbeOptions["machine"] = {
  processor: { model: "A processor", physicalCores: 1, logicalCores: 1, coreLimit: null },
  host: {
    ...{ totalBytes: 2 ** 34, availableBytes: 2 ** 33, lockableBytes: null },
    ...{ containerLimitBytes: null, containerUsedBytes: null },
  },
};

/** A models' folder, a cache, and measurements that are made up. */
async function setUp(speeds: { disk: number | null; memory: number | null }) {
  const folder = await temporaryFolder();
  const cacheDir = join(await temporaryFolder(), "cache");
  const measure = {
    disk: vi.fn(async (_path: string) => speeds.disk),
    memory: vi.fn(async () => speeds.memory),
  };
  const failures: unknown[] = [];
  const options: ProbeOptions = {
    ...{ machine, folder, cacheDir, measure, signal: new AbortController().signal },
    onFailure: (error) => failures.push(error),
  };
  return {
    folder,
    cacheDir,
    measure,
    options,
    failures,
    file: join(cacheDir, "hardware", "bandwidths.json"),
  };
}

it("measures once and keeps the result", async () => {
  const { folder, measure, options, file } = await setUp({ disk: 2e9, memory: 8e9 });
  await mkdir(join(folder, "some"));
  await writeFile(join(folder, "small.gguf"), Buffer.alloc(MiB, 1));
  await writeFile(join(folder, "some", "large.gguf"), Buffer.alloc(65 * MiB, 1));
  const speeds = { diskToHost: 2e9, hostToDevice: null, host: 8e9 };
  expect(await keptBandwidths(options)).toEqual({ ...speeds, diskToHost: null, host: null });
  expect(await probeBandwidths(options)).toEqual(speeds);
  expect(measure.disk.mock.calls.map(([path]) => path)).toEqual([
    join(folder, "some", "large.gguf"),
  ]);
  expect(await probeBandwidths(options)).toEqual(speeds);
  expect(await keptBandwidths(options)).toEqual(speeds);
  expect(measure.disk).toHaveBeenCalledTimes(1);
  expect(measure.memory).toHaveBeenCalledTimes(1);
  expect(await readdir(join(file, ".."))).toEqual(["bandwidths.json"]);
});

it("measures another machine anew and forgets neither", async () => {
  const { measure, options } = await setUp({ disk: null, memory: 8e9 });
  await probeBandwidths(options);
  const other = {
    ...options,
    machine: { ...machine, host: { ...machine.host, totalBytes: 2 ** 35 } },
  };
  await probeBandwidths(other);
  expect(measure.memory).toHaveBeenCalledTimes(2);
  await Promise.all([probeBandwidths(options), probeBandwidths(other)]);
  expect(measure.memory).toHaveBeenCalledTimes(2);
});

it("has no number of a disk without a model, and measures it when there is one", async () => {
  const { folder, measure, options } = await setUp({ disk: 2e9, memory: 8e9 });
  // A file of holes is no model.
  await writeFile(join(folder, "holes"), "");
  await truncate(join(folder, "holes"), 100 * MiB);
  expect(await probeBandwidths(options)).toEqual({
    ...{ diskToHost: null, hostToDevice: null, host: 8e9 },
  });
  expect(measure.disk).not.toHaveBeenCalled();
  await writeFile(join(folder, "model.gguf"), Buffer.alloc(64 * MiB, 1));
  expect((await probeBandwidths(options)).diskToHost).toBe(2e9);
  expect(measure.memory).toHaveBeenCalledTimes(1);
});

it("measures anew where what was kept cannot be read", async () => {
  const { measure, options, file } = await setUp({ disk: null, memory: 8e9 });
  await probeBandwidths(options);
  const whole = await readFile(file, "utf8");
  for (const text of [
    whole.slice(0, 40),
    "[]",
    '{"version":9}',
    whole.replace("8000000000", '"fast"'),
  ]) {
    await writeFile(file, text);
    measure.memory.mockClear();
    expect((await probeBandwidths(options)).host).toBe(8e9);
    expect(measure.memory).toHaveBeenCalledTimes(1);
  }
});

it("gives the result also where it cannot be kept, and tells", async () => {
  const { cacheDir, options, failures } = await setUp({ disk: null, memory: 8e9 });
  await writeFile(cacheDir, "a file where the folder should be");
  expect((await probeBandwidths(options)).host).toBe(8e9);
  expect(failures).toHaveLength(1);
});

it("measures and keeps nothing once it is called off", async () => {
  const { options, file } = await setUp({ disk: null, memory: 8e9 });
  const signal = AbortSignal.abort(new Error("off"));
  await expect(probeBandwidths({ ...options, signal })).rejects.toThrow("off");
  await expect(readFile(file)).rejects.toThrow();
});
