import { expect, it } from "vitest";
import { systemWith } from "../../processes/__fixtures__/system.js";
import { readHostMemory } from "./host-memory.js";

const MEMINFO = `MemTotal:       24684084 kB
MemFree:        16632228 kB
MemAvailable:   23284416 kB
Buffers:          159284 kB
Cached:          6564096 kB`;
const LIMITS = "Max locked memory         8388608              8388608              bytes";

it("is what the kernel tells, cache that can be dropped included", async () => {
  const files = await systemWith({ "/proc/meminfo": MEMINFO, "/proc/self/limits": LIMITS });
  expect(await readHostMemory(files, { memory: null })).toEqual({
    totalBytes: 24684084 * 1024,
    availableBytes: 23284416 * 1024,
    containerLimitBytes: null,
    containerUsedBytes: null,
    lockableBytes: 8388608,
  });
});

it("keeps a container's limit apart from the machine's memory", async () => {
  const files = await systemWith({ "/proc/meminfo": MEMINFO });
  const memory = await readHostMemory(files, { memory: { limitBytes: 2 ** 30, usedBytes: 5 } });
  expect(memory).toMatchObject({
    ...{ totalBytes: 24684084 * 1024, containerLimitBytes: 2 ** 30, containerUsedBytes: 5 },
  });
});

it("is null where the kernel is too old to tell", async () => {
  const files = await systemWith({ "/proc/meminfo": "MemTotal: 1024 kB\nMemFree: 512 kB" });
  const memory = await readHostMemory(files, { memory: null });
  expect(memory).toMatchObject({ totalBytes: 2 ** 20, availableBytes: null, lockableBytes: null });
});
