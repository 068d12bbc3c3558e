import { describe, expect, it } from "vitest";
import { systemWith } from "./__fixtures__/system.js";
import { parseCpuMax, readControlGroup } from "./control-group.js";

const GiB = 2 ** 30;
const read = async (files: Record<string, string>) => readControlGroup(await systemWith(files));
const V2_MOUNT = "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";

it("has no limits on a machine without control groups", async () => {
  expect(await read({})).toEqual({ version: null, memory: null, processors: null });
});

it("reads quotas", () => {
  expect(parseCpuMax("150000 100000\n")).toBe(1.5);
  expect(parseCpuMax("max 100000\n")).toBeNull();
  expect(parseCpuMax("")).toBeNull();
});

describe("version 2", () => {
  const nested = (leaf: Record<string, string>, above: Record<string, string>) => ({
    "/proc/self/cgroup": "0::/user.slice/app.scope",
    "/proc/self/mountinfo": V2_MOUNT,
    ...Object.fromEntries(
      Object.entries(leaf).map(([k, v]) => [`/sys/fs/cgroup/user.slice/app.scope/${k}`, v]),
    ),
    ...Object.fromEntries(
      Object.entries(above).map(([k, v]) => [`/sys/fs/cgroup/user.slice/${k}`, v]),
    ),
  });

  it("counts the tightest limit on the way up", async () => {
    const files = nested(
      { "memory.max": "max", "cpu.max": "150000 100000" },
      { "memory.max": `${2 * GiB}`, "cpu.max": "max 100000", "memory.current": `${GiB}` },
    );
    expect(await read(files)).toEqual({
      version: 2,
      memory: { limitBytes: 2 * GiB, usedBytes: GiB },
      processors: 1.5,
    });
  });

  it("does not count file cache that can be dropped as used", async () => {
    const stat = `anon ${GiB}\nfile ${2 * GiB}\nactive_file ${GiB}\ninactive_file ${GiB}\nslab_reclaimable 1048576`;
    const files = nested(
      { "memory.max": `${4 * GiB}`, "memory.current": `${3 * GiB + 2 ** 21}`, "memory.stat": stat },
      {},
    );
    const { memory } = await read(files);
    expect(memory).toEqual({ limitBytes: 4 * GiB, usedBytes: GiB + 2 ** 20 });
  });

  it("leaves no more room than a fuller group above has", async () => {
    const files = nested(
      { "memory.max": `${4 * GiB}`, "memory.current": "0" },
      { "memory.max": `${8 * GiB}`, "memory.current": `${7 * GiB}` },
    );
    const { memory } = await read(files);
    expect((memory?.limitBytes ?? 0) - (memory?.usedBytes ?? 0)).toBe(GiB);
  });

  it("takes the limit over which a group is slowed down for one", async () => {
    const files = nested(
      { "memory.max": "max", "memory.high": `${GiB}`, "memory.current": "0" },
      {},
    );
    expect((await read(files)).memory?.limitBytes).toBe(GiB);
  });

  it("reads the mount's own files in a container", async () => {
    const files = {
      "/proc/self/cgroup": "0::/",
      "/proc/self/mountinfo": V2_MOUNT.replace(" / /sys", " /../../docker/abc /sys"),
      "/sys/fs/cgroup/memory.max": `${GiB}`,
      "/sys/fs/cgroup/cpu.max": "50000 100000",
    };
    expect(await read(files)).toEqual({
      version: 2,
      memory: { limitBytes: GiB, usedBytes: null },
      processors: 0.5,
    });
  });

  it("does not take another group's limit where the mount starts at our own", async () => {
    const files = {
      "/proc/self/cgroup": "0::/docker/abc",
      "/proc/self/mountinfo": V2_MOUNT.replace(" / /sys", " /docker/abc /sys"),
      "/sys/fs/cgroup/memory.max": `${2 * GiB}`,
      "/sys/fs/cgroup/docker/abc/memory.max": "4096",
    };
    expect((await read(files)).memory?.limitBytes).toBe(2 * GiB);
  });

  it("is found where nothing tells the mounts", async () => {
    const files = {
      "/proc/self/cgroup": "0::/a",
      "/sys/fs/cgroup/a/memory.max": `${GiB}`,
      "/sys/fs/cgroup/a/memory.current": "4096",
    };
    expect((await read(files)).memory).toEqual({ limitBytes: GiB, usedBytes: 4096 });
  });
});

describe("version 1", () => {
  it("finds the mount where the path of the group is not visible, and takes no limit for none", async () => {
    const files = {
      "/proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    };
    expect(await read(files)).toEqual({ version: 1, memory: null, processors: 2 });
  });

  it("reads a nested group's limit, and a tighter one that cannot be seen", async () => {
    const at = "/sys/fs/cgroup/memory/outer/inner";
    const files = {
      "/proc/self/cgroup": "4:memory:/outer/inner",
      "/proc/self/mountinfo": "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
      [`${at}/memory.limit_in_bytes`]: `${4 * GiB}`,
      [`${at}/memory.usage_in_bytes`]: `${GiB}`,
      [`${at}/memory.stat`]: `total_inactive_file ${GiB / 2}\ntotal_active_file 0\nhierarchical_memory_limit ${4 * GiB}`,
    };
    expect((await read(files)).memory).toEqual({ limitBytes: 4 * GiB, usedBytes: GiB / 2 });
    const tighter = { ...files, [`${at}/memory.stat`]: `hierarchical_memory_limit ${2 * GiB}` };
    expect((await read(tighter)).memory?.limitBytes).toBe(2 * GiB);
  });

  it("keeps memory apart from processors that are under version 2", async () => {
    const files = {
      "/proc/self/cgroup": "4:memory:/process\n1:name=systemd:/\n0::/",
      "/proc/self/mountinfo": [
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
      ].join("\n"),
      "/sys/fs/cgroup/memory/process/memory.limit_in_bytes": `${GiB}`,
      "/sys/fs/cgroup/unified/cpu.max": "300000 100000",
    };
    expect(await read(files)).toMatchObject({
      version: 1,
      memory: { limitBytes: GiB },
      processors: 3,
    });
  });
});
