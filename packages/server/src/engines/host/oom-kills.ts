import { readFile } from "node:fs/promises";

/**
 * How many processes the kernel has killed for want of memory so far: in our own control group
 * where it counts them (cgroup v2 `memory.events`), else on the whole machine (`/proc/vmstat`).
 * Null where neither can be read.
 */
export async function oomKills(): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const own = /^0::(\/.*)$/m.exec(await text("/proc/self/cgroup"))?.[1];
  if (own !== undefined) {
    const count = counter(await text(`/sys/fs/cgroup${own}/memory.events`));
    if (count !== null) return count;
  }
  return counter(await text("/proc/vmstat"));
}

function counter(listing: string): number | null {
  const value = /^oom_kill (\d+)$/m.exec(listing)?.[1];
  return value === undefined ? null : Number(value);
}

async function text(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return "";
  }
}
