import { expect, test } from "vitest";
import { machine } from "./__fixtures__/machine.js";
import { readGroupLimits } from "./control-group.js";

test("version 2: the tightest limit on the way up counts", async () => {
  const files = await machine({
    "/proc/self/cgroup": "0::/user.slice/app.scope",
    "/sys/fs/cgroup/cgroup.controllers": "cpu memory",
    "/sys/fs/cgroup/user.slice/memory.max": "2147483648",
    "/sys/fs/cgroup/user.slice/cpu.max": "max 100000",
    "/sys/fs/cgroup/user.slice/app.scope/memory.max": "max",
    "/sys/fs/cgroup/user.slice/app.scope/cpu.max": "150000 100000",
  });
  expect(await readGroupLimits(files)).toEqual({ version: 2, memory: 2 ** 31, processors: 1.5 });
});

test("version 2 in a container: the mount's own files count", async () => {
  const files = await machine({
    "/proc/self/cgroup": "0::/",
    "/sys/fs/cgroup/cgroup.controllers": "cpu memory",
    "/sys/fs/cgroup/memory.max": "1073741824",
    "/sys/fs/cgroup/cpu.max": "50000 100000",
  });
  expect(await readGroupLimits(files)).toEqual({ version: 2, memory: 2 ** 30, processors: 0.5 });
});

test("version 1: a path that is not visible leads to the mount, and no limit is none", async () => {
  const files = await machine({
    "/proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
  });
  expect(await readGroupLimits(files)).toEqual({ version: 1, memory: null, processors: 2 });
});

test("a machine without control groups has no limits", async () => {
  const files = await machine({});
  expect(await readGroupLimits(files)).toEqual({ version: null, memory: null, processors: null });
});
