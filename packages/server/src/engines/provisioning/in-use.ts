import { readdir, readFile, readlink } from "node:fs/promises";
import { sep } from "node:path";
import { runProgram } from "./run-program.js";

const ASK_TIMEOUT_MS = 5_000;
/** A script is run by an interpreter: its own path is among the first arguments. */
const ARGUMENTS_LOOKED_AT = 4;

/**
 * Processes that run a program, or any program below a folder. Only those that this user may look at
 * are seen. Empty on Windows, where a running program cannot be removed anyway.
 * @throws the signal's reason when it fires
 */
export async function processesUsing(
  place: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number[]> {
  const isOfPlace = (path: string) => path === place || path.startsWith(place + sep);
  if (process.platform === "linux") {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const using = await Promise.all(
      pids.map(async (pid) => {
        const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
        if (isOfPlace(program)) return true;
        const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
        return line.split("\0").slice(0, ARGUMENTS_LOOKED_AT).some(isOfPlace);
      }),
    );
    return pids
      .filter((_, at) => using[at])
      .map(Number)
      .filter((pid) => pid !== process.pid);
  }
  if (process.platform === "win32") return [];
  const options = { cwd: "/", env, signal, timeoutMs: ASK_TIMEOUT_MS };
  const listing = await runProgram("/bin/ps", ["-axo", "pid=,comm="], options).catch(() => {
    signal.throwIfAborted();
    return null;
  });
  return (listing?.stdout ?? "").split("\n").flatMap((line) => {
    const [, pid, program] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid !== undefined && program !== undefined && isOfPlace(program) ? [Number(pid)] : [];
  });
}
