import { readFile } from "node:fs/promises";

/** R, S, Z, ... of a process of Linux (proc(5)); null when there is none. */
export async function stateOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  return stat === null ? null : (stat.slice(stat.lastIndexOf(")") + 2)[0] ?? null);
}
