import { readFile } from "node:fs/promises";

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks after boot at which it started; 0 where the system does not tell. */
  start: number;
}

/** Start of a process in clock ticks after boot (field 22 of `/proc/PID/stat`); null when there is none. */
export async function startTicks(pid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces and parentheses: fields count from the last one.
    const value = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isFinite(value) ? value : null;
  } catch {
    return null;
  }
}

/** Our own identity. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, start: (await startTicks(process.pid)) ?? 0 };
}

/** Whether that very process is still there. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (identity.start !== 0) return (await startTicks(identity.pid)) === identity.start;
  try {
    process.kill(identity.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
