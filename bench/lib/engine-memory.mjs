import { readFileSync } from "node:fs";

/**
 * What Linux counts for a process, bytes, as the server measures it: pages that others have mapped too count in
 * full, so that another engine of the same program makes no difference.
 */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(text)[1]) * 1024;
  const total = of("Rss");
  const own = of("Anonymous");
  return { total, private: own, mapped: total - own };
}
