import { type Mount, parseMounts } from "./mounts.js";
import type { SystemFiles } from "./system-files.js";

/** Memory under a limit of the control group. Bytes. */
export interface GroupMemory {
  /** The tightest limit on the way from our group to the root. */
  limitBytes: number;
  /**
   * What of that limit is taken, file cache that the kernel can drop not counted: limit - used is what
   * may still be taken, also where a group above has less room left than ours. Null where it is not told.
   */
  usedBytes: number | null;
}

/** What the control group lets this process use; null where it sets no limit. */
export interface ControlGroup {
  memory: GroupMemory | null;
  /** Processors' worth of time, fractions included. */
  processors: number | null;
  /** The version that holds the memory controller, else the processors' one. */
  version: 1 | 2 | null;
}

/** Version 1 writes "no limit" as a number near 2^63. */
const NO_LIMIT = 2 ** 60;
const CONVENTIONAL_MOUNT = "/sys/fs/cgroup";

/** The folders of one controller, our own group's first, and the version that they speak. */
interface Hierarchy {
  version: 1 | 2;
  folders: string[];
}

/** One group's share of a limit: null where it has none, or does not count. */
interface Level {
  limit: number;
  used: number | null;
}

/**
 * The limits on the way from this process's control group to the root, as far as they can be seen
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/). A controller belongs to one
 * version at a time, so a machine with both may have memory in one and processors in the other.
 */
export async function readControlGroup(files: SystemFiles): Promise<ControlGroup> {
  const [groups, mountinfo] = await Promise.all([
    files.text("/proc/self/cgroup"),
    files.text("/proc/self/mountinfo"),
  ]);
  const mounts = parseMounts(mountinfo ?? "");
  const [memory, processors] = ["memory", "cpu"].map((controller) =>
    hierarchyOf(controller, groups ?? "", mounts),
  );
  const [memoryLevels, quotas] = await Promise.all([
    Promise.all((memory?.folders ?? []).map((at) => memoryLevel(files, memory?.version, at))),
    Promise.all((processors?.folders ?? []).map((at) => quota(files, processors?.version, at))),
  ]);
  return {
    memory: tightest(memoryLevels.flat()),
    processors: least(quotas),
    version: memory?.version ?? processors?.version ?? null,
  };
}

/** Processors granted by `cpu.max` (version 2: "quota period" in microseconds, or "max"). */
export function parseCpuMax(text: string): number | null {
  const [quota, period] = text.trim().split(/\s+/).map(Number);
  return share(quota, period);
}

function hierarchyOf(
  controller: string,
  groups: string,
  mounts: readonly Mount[],
): Hierarchy | null {
  for (const line of groups.split("\n")) {
    const [, controllers = "", ...path] = line.split(":");
    if (!controllers.split(",").includes(controller)) continue;
    const mount = mountOf("cgroup", controller, mounts) ?? {
      at: `${CONVENTIONAL_MOUNT}/${controller}`,
      root: "/",
    };
    return { version: 1, folders: upwards(mount, path.join(":")) };
  }
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  if (unified === undefined) return null;
  const mount = mountOf("cgroup2", null, mounts) ?? { at: CONVENTIONAL_MOUNT, root: "/" };
  return { version: 2, folders: upwards(mount, unified) };
}

/** The first mount of a kind, and of a controller where one is named. */
function mountOf(
  kind: string,
  controller: string | null,
  mounts: readonly Mount[],
): Pick<Mount, "at" | "root"> | null {
  const fits = ({ type, options }: Mount) =>
    type === kind && (controller === null || options.includes(controller));
  return mounts.find(fits) ?? null;
}

/**
 * The group's folder and those above it, up to the mount. A path that lies outside of what is mounted
 * is tried as it is: then only the mount itself is there.
 */
function upwards({ at, root }: Pick<Mount, "at" | "root">, path: string): string[] {
  const below = root !== "/" && (path === root || path.startsWith(`${root}/`));
  const inside = below ? path.slice(root.length) : path;
  const parts = inside.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, cutOff) =>
    [at, ...parts.slice(0, parts.length - cutOff)].join("/"),
  );
}

async function memoryLevel(
  files: SystemFiles,
  version: 1 | 2 | undefined,
  folder: string,
): Promise<Level[]> {
  const read = (name: string) => files.text(`${folder}/${name}`);
  if (version === 2) {
    // Over `high` a group is slowed down until it has given memory back: as good as a limit.
    const limit = least(
      (await Promise.all([read("memory.max"), read("memory.high")])).map(bytesOf),
    );
    if (limit === null) return [];
    const [current, stat] = await Promise.all([read("memory.current"), read("memory.stat")]);
    return [{ limit, used: usedOf(current, stat, "", ["slab_reclaimable"]) }];
  }
  const [told, stat] = await Promise.all([read("memory.limit_in_bytes"), read("memory.stat")]);
  const limit = bytesOf(told);
  // The tightest limit above, also of groups that cannot be seen from a container.
  const above = bytesOf(/^hierarchical_memory_limit (\d+)$/m.exec(stat ?? "")?.[1] ?? null);
  const levels: Level[] = [];
  if (limit !== null) {
    const current = await read("memory.usage_in_bytes");
    levels.push({ limit, used: usedOf(current, stat, "total_", []) });
  }
  if (above !== null && (limit === null || above < limit))
    levels.push({ limit: above, used: null });
  return levels;
}

function usedOf(
  current: string | null,
  stat: string | null,
  prefix: string,
  further: readonly string[],
): number | null {
  const used = bytesOf(current);
  if (used === null) return null;
  const droppable = ["active_file", "inactive_file", ...further].map((name) =>
    Number(new RegExp(`^${prefix}${name} (\\d+)$`, "m").exec(stat ?? "")?.[1] ?? 0),
  );
  return Math.max(0, used - droppable.reduce((sum, bytes) => sum + bytes, 0));
}

async function quota(
  files: SystemFiles,
  version: 1 | 2 | undefined,
  folder: string,
): Promise<number | null> {
  if (version === 2) return parseCpuMax((await files.text(`${folder}/cpu.max`)) ?? "");
  const [granted, period] = await Promise.all(
    ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(async (name) =>
      Number((await files.text(`${folder}/${name}`)) ?? Number.NaN),
    ),
  );
  return share(granted, period);
}

function tightest(levels: readonly Level[]): GroupMemory | null {
  const limit = least(levels.map((level) => level.limit));
  if (limit === null) return null;
  const room = least(levels.map(({ limit, used }) => (used === null ? null : limit - used)));
  return { limitBytes: limit, usedBytes: room === null ? null : Math.max(0, limit - room) };
}

function share(granted: number | undefined, period: number | undefined): number | null {
  if (granted === undefined || period === undefined) return null;
  return granted > 0 && period > 0 ? granted / period : null;
}

function least(values: readonly (number | null)[]): number | null {
  const told = values.filter((value) => value !== null);
  return told.length === 0 ? null : Math.min(...told);
}

function bytesOf(text: string | null): number | null {
  if (text === null || !/^\d+$/.test(text)) return null;
  const bytes = Number(text);
  return bytes < NO_LIMIT ? bytes : null;
}
