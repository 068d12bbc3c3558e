import { readFileSync } from "node:fs";

/** What Linux counts for a process, bytes; pages that several share count in parts. */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(text)[1]) * 1024;
  return { total: of("Pss"), private: of("Anonymous"), mapped: of("Pss_File") };
}
