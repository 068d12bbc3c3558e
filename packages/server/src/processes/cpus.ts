import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { SystemFiles } from "./system-files.js";

/** One logical processor that this process may run on, as the system describes it. */
export interface LogicalCpu {
  id: number;
  /** Same for the logical processors of one physical core; null where the system does not tell. */
  core: string | null;
  /** Relative speed where the system tells it (performance and efficiency cores), else null. */
  capacity: number | null;
}

/** What is read, for a machine that is made up. */
export interface CpuSources {
  files?: SystemFiles;
  platform?: NodeJS.Platform;
  env?: NodeJS.ProcessEnv;
}

const SYSCTL_TIMEOUT_MS = 2_000;
const SYSCTL_NAMES = [
  "hw.physicalcpu",
  "hw.logicalcpu",
  "hw.perflevel0.physicalcpu",
  "hw.perflevel1.physicalcpu",
];

/** The logical processors that this process may run on. */
export async function readCpus(sources: CpuSources = {}): Promise<LogicalCpu[]> {
  const { files = new SystemFiles(), platform = process.platform, env = process.env } = sources;
  if (platform === "linux") return readLinux(files);
  if (platform === "darwin") return readDarwin(env);
  return logicalOnly();
}

/** Physical cores that logical processors belong to; null where the system does not tell them apart. */
export function physicalCores(cpus: readonly LogicalCpu[]): number | null {
  const told = new Set(cpus.map((cpu) => cpu.core).filter((core) => core !== null));
  return told.size === 0 ? null : told.size;
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

function logicalOnly(): LogicalCpu[] {
  return Array.from({ length: availableParallelism() }, (_, id) => ({
    ...{ id, core: null, capacity: null },
  }));
}

async function readLinux(files: SystemFiles): Promise<LogicalCpu[]> {
  const [status, online, fast] = await Promise.all([
    files.text("/proc/self/status"),
    files.text("/sys/devices/system/cpu/online"),
    // Intel's hybrid processors list their performance cores here and give no capacity.
    files.text("/sys/devices/cpu_core/cpus"),
  ]);
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status ?? "")?.[1] ?? "");
  const there = new Set(parseCpuList(online ?? ""));
  const performance = new Set(parseCpuList(fast ?? ""));
  const usable = allowed.filter((id) => there.size === 0 || there.has(id));
  const ids = usable.length > 0 ? usable : logicalOnly().map((cpu) => cpu.id);
  return Promise.all(
    ids.map(async (id) => {
      const base = `/sys/devices/system/cpu/cpu${id}`;
      const [core, socket, told] = await Promise.all([
        files.text(`${base}/topology/core_id`),
        files.text(`${base}/topology/physical_package_id`),
        files.text(`${base}/cpu_capacity`),
      ]);
      const hybrid = performance.size > 0 ? (performance.has(id) ? 1 : 0) : null;
      return {
        id,
        core: core === null ? null : `${socket}/${core}`,
        capacity: told === null ? hybrid : Number(told),
      };
    }),
  );
}

async function readDarwin(env: NodeJS.ProcessEnv): Promise<LogicalCpu[]> {
  const told = await sysctl(env);
  const logical = told.get("hw.logicalcpu") ?? availableParallelism();
  const physical = told.get("hw.physicalcpu");
  if (physical === undefined) return logicalOnly();
  const fast = told.get("hw.perflevel0.physicalcpu");
  const hybrid = fast !== undefined && told.has("hw.perflevel1.physicalcpu");
  return Array.from({ length: logical }, (_, id) => {
    const core = id % physical;
    return { id, core: `${core}`, capacity: hybrid ? (core < fast ? 1 : 0) : null };
  });
}

/** An Intel Mac has no performance levels: sysctl then complains and prints the others. */
function sysctl(env: NodeJS.ProcessEnv): Promise<Map<string, number>> {
  return new Promise((resolve) => {
    const options = { env, timeout: SYSCTL_TIMEOUT_MS };
    execFile("sysctl", SYSCTL_NAMES, options, (_error, stdout) => {
      const values = [...stdout.matchAll(/^(\S+): (\d+)$/gm)];
      resolve(new Map(values.map(([, name = "", value]) => [name, Number(value)])));
    });
  });
}
