import { expect, it } from "vitest";
import { programs, systemWith } from "./__fixtures__/system.js";
import { type LogicalCpu, parseCpuList, physicalCores, readCpus } from "./cpus.js";

const status = (allowed: string) => ({
  "/proc/self/status": `Name:\tnode\nCpus_allowed_list:\t${allowed}`,
});
const topology = (cpu: number, core: number, socket = 0) => ({
  [`/sys/devices/system/cpu/cpu${cpu}/topology/core_id`]: `${core}`,
  [`/sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`]: `${socket}`,
});
const read = async (files: Record<string, string>) =>
  readCpus({ files: await systemWith(files), platform: "linux" });
const capacities = (cpus: LogicalCpu[]) => cpus.map((cpu) => cpu.capacity);

it("reads the kernel's lists", () => {
  expect(parseCpuList("0-3,8\n")).toEqual([0, 1, 2, 3, 8]);
  expect(parseCpuList("5")).toEqual([5]);
  expect(parseCpuList("")).toEqual([]);
});

it("tells physical cores from logical processors, across sockets", async () => {
  const cpus = await read({
    ...status("0-7"),
    ...{ ...topology(0, 0), ...topology(1, 0), ...topology(2, 1), ...topology(3, 1) },
    ...{ ...topology(4, 0, 1), ...topology(5, 0, 1), ...topology(6, 1, 1), ...topology(7, 1, 1) },
  });
  expect(cpus).toHaveLength(8);
  expect(physicalCores(cpus)).toBe(4);
});

it("counts only processors that this process may run on, and that are there", async () => {
  const files = { ...topology(0, 0), ...topology(1, 1), ...topology(2, 2), ...topology(3, 3) };
  expect(physicalCores(await read({ ...files, ...status("1-2") }))).toBe(2);
  const online = { "/sys/devices/system/cpu/online": "0-3" };
  // A virtual machine may allow processors that can be plugged in later.
  expect(await read({ ...files, ...online, ...status("0-239") })).toHaveLength(4);
});

it("does not guess where the system does not tell cores apart", async () => {
  const cpus = await read(status("0-3"));
  expect(cpus.map((cpu) => cpu.core)).toEqual([null, null, null, null]);
  expect(physicalCores(cpus)).toBeNull();
});

it("knows efficiency cores by Intel's list or by ARM's capacities", async () => {
  const intel = await read({ ...status("0-3"), "/sys/devices/cpu_core/cpus": "0-1" });
  expect(capacities(intel)).toEqual([1, 1, 0, 0]);
  const arm = await read({
    ...status("0-1"),
    "/sys/devices/system/cpu/cpu0/cpu_capacity": "446",
    "/sys/devices/system/cpu/cpu1/cpu_capacity": "1024",
  });
  expect(capacities(arm)).toEqual([446, 1024]);
});

it.runIf(process.platform !== "win32")(
  "asks a Mac's sysctl, whatever it complains about",
  async () => {
    const apple = await programs({
      sysctl:
        "echo 'hw.physicalcpu: 12'; echo 'hw.logicalcpu: 12'; echo 'hw.perflevel0.physicalcpu: 8'; echo 'hw.perflevel1.physicalcpu: 4'",
    });
    const cpus = await readCpus({ platform: "darwin", env: apple });
    expect(physicalCores(cpus)).toBe(12);
    expect(capacities(cpus).filter((capacity) => capacity === 1)).toHaveLength(8);
    const intel = await programs({
      sysctl:
        "echo 'hw.physicalcpu: 4'; echo 'hw.logicalcpu: 8'; echo \"sysctl: unknown oid 'hw.perflevel0.physicalcpu'\" >&2; exit 1",
    });
    const threads = await readCpus({ platform: "darwin", env: intel });
    expect([threads.length, physicalCores(threads)]).toEqual([8, 4]);
    expect(capacities(threads)).toEqual(Array(8).fill(null));
  },
);
