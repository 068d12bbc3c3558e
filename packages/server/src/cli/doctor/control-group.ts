import type { SystemFiles } from "./system-files.js";

/** What the control group lets this process use; null where it sets no limit. */
export interface GroupLimits {
  /** Bytes. */
  memory: number | null;
  /** Processors' worth of time. */
  processors: number | null;
  version: 1 | 2 | null;
}

const MOUNT = "/sys/fs/cgroup";
/** Version 1 writes "no limit" as a number near 2^63. */
const NO_LIMIT = 2 ** 60;

/**
 * The tightest limits on the way from this process's group to the root
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/).
 */
export async function readGroupLimits(files: SystemFiles): Promise<GroupLimits> {
  const groups = (await files.text("/proc/self/cgroup")) ?? "";
  const unified = /^0::(\/.*)$/m.exec(groups)?.[1];
  if (unified !== undefined && (await files.text(`${MOUNT}/cgroup.controllers`)) !== null) {
    const folders = upwards(MOUNT, unified);
    return {
      version: 2,
      memory: await tightest(folders, async (folder) =>
        bytesOf(await files.text(`${folder}/memory.max`)),
      ),
      processors: await tightest(folders, async (folder) => {
        const [quota, period] = ((await files.text(`${folder}/cpu.max`)) ?? "").split(" ");
        return Number(quota) > 0 && Number(period) > 0 ? Number(quota) / Number(period) : null;
      }),
    };
  }
  const memoryPath = pathOf(groups, "memory");
  const processorPath = pathOf(groups, "cpu");
  if (memoryPath === undefined && processorPath === undefined) {
    return { version: null, memory: null, processors: null };
  }
  return {
    version: 1,
    memory: await tightest(upwards(`${MOUNT}/memory`, memoryPath ?? "/"), async (folder) =>
      bytesOf(await files.text(`${folder}/memory.limit_in_bytes`)),
    ),
    processors: await tightest(upwards(`${MOUNT}/cpu`, processorPath ?? "/"), async (folder) => {
      const quota = Number(await files.text(`${folder}/cpu.cfs_quota_us`));
      const period = Number(await files.text(`${folder}/cpu.cfs_period_us`));
      return quota > 0 && period > 0 ? quota / period : null;
    }),
  };
}

function pathOf(groups: string, controller: string): string | undefined {
  for (const line of groups.split("\n")) {
    const [, controllers = "", path] = line.split(":");
    if (controllers.split(",").includes(controller)) return path;
  }
  return undefined;
}

/** The group's folder and those above it. In a container the inner ones may not be visible. */
function upwards(mount: string, path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return Array.from({ length: parts.length + 1 }, (_, cutOff) =>
    [mount, ...parts.slice(0, parts.length - cutOff)].join("/"),
  );
}

async function tightest(
  folders: string[],
  read: (folder: string) => Promise<number | null>,
): Promise<number | null> {
  const limits = (await Promise.all(folders.map(read))).filter((limit) => limit !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

function bytesOf(text: string | null): number | null {
  const bytes = text === null || text === "max" ? Number.NaN : Number(text);
  return Number.isFinite(bytes) && bytes < NO_LIMIT ? bytes : null;
}
