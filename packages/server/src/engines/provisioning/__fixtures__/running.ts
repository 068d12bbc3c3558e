import { readFile } from "node:fs/promises";

/** Whether a process runs. A killed one that nobody has collected yet does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return !/\) [ZX] /.test(stat);
}
