import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** One logical processor as the system describes it. */
export interface LogicalCpu {
  id: number;
  /** Same for the logical processors of one physical core. */
  core: string;
  /** Relative speed where the system tells it (performance and efficiency cores), else null. */
  capacity: number | null;
}

export interface MachineCpus {
  /** Logical processors that this process may run on. */
  cpus: LogicalCpu[];
  /** Processors' worth of time that the control group grants; null without a limit. */
  quota: number | null;
}

/** A core this much slower than the fastest is an efficiency core. */
const EFFICIENCY_SHARE = 0.8;
/** From this many cores up, one is left to the rest of the system. */
const SPARE_FROM = 4;

/**
 * Compute threads of an interactive engine: one a physical performance core, one fewer from four
 * up, never more than the control group's quota, at least one.
 */
export function computeThreads(machine: MachineCpus): number {
  const fastest = Math.max(0, ...machine.cpus.map((cpu) => cpu.capacity ?? 0));
  const performance = machine.cpus.filter(
    (cpu) => cpu.capacity === null || cpu.capacity >= fastest * EFFICIENCY_SHARE,
  );
  const cores = new Set(performance.map((cpu) => cpu.core)).size;
  const granted = machine.quota === null ? cores : Math.min(cores, Math.floor(machine.quota));
  return Math.max(1, granted >= SPARE_FROM ? granted - 1 : granted);
}

/** A list in the kernel's notation ("0-3,8") as numbers; empty where it cannot be read. */
export function parseCpuList(text: string): number[] {
  const out: number[] = [];
  for (const part of text.trim().split(",")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const last = Number(match[2] ?? match[1]);
    for (let cpu = Number(match[1]); cpu <= last; cpu++) out.push(cpu);
  }
  return out;
}

/** Processors granted by `cpu.max` (cgroup v2: "quota period" in microseconds, or "max"). */
export function parseCpuMax(text: string): number | null {
  const match = /^(\d+) (\d+)/.exec(text);
  return match ? Number(match[1]) / Number(match[2]) : null;
}

/** What this machine has. Where the system does not tell physical cores, each logical one counts. */
export function readMachineCpus(): MachineCpus {
  if (process.platform === "linux") return readLinux();
  if (process.platform === "darwin") return readDarwin();
  return { cpus: logicalOnly(availableParallelism()), quota: null };
}

function logicalOnly(count: number): LogicalCpu[] {
  return Array.from({ length: count }, (_, id) => ({ id, core: String(id), capacity: null }));
}

function readLinux(): MachineCpus {
  const allowed = parseCpuList(
    /^Cpus_allowed_list:\s*(\S+)/m.exec(text("/proc/self/status"))?.[1] ?? "",
  );
  const ids = allowed.length > 0 ? allowed : logicalOnly(availableParallelism()).map((c) => c.id);
  // Intel's hybrid processors list their performance cores here and give no capacity.
  const performance = new Set(parseCpuList(text("/sys/devices/cpu_core/cpus")));
  const cpus = ids.map((id): LogicalCpu => {
    const base = `/sys/devices/system/cpu/cpu${id}`;
    const core = text(`${base}/topology/core_id`).trim();
    const socket = text(`${base}/topology/physical_package_id`).trim();
    const told = text(`${base}/cpu_capacity`).trim();
    const hybrid = performance.size > 0 ? (performance.has(id) ? 1 : 0) : null;
    return {
      id,
      core: core === "" ? `cpu${id}` : `${socket}/${core}`,
      capacity: told === "" ? hybrid : Number(told),
    };
  });
  return { cpus, quota: readQuota() };
}

/** The tightest quota on the way from our control group to the root (v2), or v1's own. */
function readQuota(): number | null {
  const quotas: number[] = [];
  const own = /^0::(\/.*)$/m.exec(text("/proc/self/cgroup"))?.[1];
  if (own !== undefined) {
    const parts = own.split("/").filter((part) => part !== "");
    for (let depth = parts.length; depth >= 0; depth--) {
      const folder = ["/sys/fs/cgroup", ...parts.slice(0, depth)].join("/");
      const quota = parseCpuMax(text(`${folder}/cpu.max`));
      if (quota !== null) quotas.push(quota);
    }
  }
  const period = Number(text("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  const limit = Number(text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  if (period > 0 && limit > 0) quotas.push(limit / period);
  return quotas.length > 0 ? Math.min(...quotas) : null;
}

function readDarwin(): MachineCpus {
  for (const name of ["hw.perflevel0.physicalcpu", "hw.physicalcpu"]) {
    try {
      const count = Number(execFileSync("sysctl", ["-n", name], { timeout: 2000, stdio: "pipe" }));
      if (count > 0) return { cpus: logicalOnly(count), quota: null };
    } catch {
      // An Intel Mac has no performance levels: the next name answers.
    }
  }
  return { cpus: logicalOnly(availableParallelism()), quota: null };
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
