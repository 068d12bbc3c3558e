import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

/** R, S, Z, ... of a process of Linux (proc(5)); null when there is none. */
export async function stateOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  return stat === null ? null : (stat.slice(stat.lastIndexOf(")") + 2)[0] ?? null);
}

const LOOK_EVERY_MS = 10;

/** Whether a process of Linux is gone, or has only to be reaped, within a time; ms. */
export async function goneWithin(pid: number, ms: number): Promise<boolean> {
  for (let waited = 0; ; waited += LOOK_EVERY_MS) {
    const state = await stateOf(pid);
    if (state === null || state === "Z") return true;
    if (waited >= ms) return false;
    await pause(LOOK_EVERY_MS);
  }
}
