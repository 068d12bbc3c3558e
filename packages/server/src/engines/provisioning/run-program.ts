import { type ChildProcess, spawn } from "node:child_process";
import { setPriority } from "node:os";
import type { Readable } from "node:stream";
import { killGroup, tiedToOurLife } from "../../processes/index.js";

/** How a program ended, and the first part of what it printed. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** At most `MAX_KEPT` characters of standard output. */
  stdout: string;
  /** At most `MAX_KEPT` characters of standard error. */
  stderr: string;
  timedOut: boolean;
}

export interface RunOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Milliseconds; absent: as long as it takes. */
  timeoutMs?: number;
  /** Every line of both outputs, as it comes. */
  onLine?: (line: string) => void;
  /** Leave the processor to others when they want it. */
  nice?: boolean;
}

const MAX_KEPT = 1_000_000;
const MAX_LINE = 65_536;
const NICENESS = 10;

/**
 * Runs a program in a process group of its own and waits for its end. On abort and on timeout the
 * whole group is killed and gone before this settles. On Linux the program also dies with us.
 * @throws the signal's reason when it fires
 * @throws the system's error when the program cannot be started
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Ended> {
  const tied = await tiedToOurLife(file, args, options.env);
  options.signal.throwIfAborted();
  const child = spawn(tied.program, tied.args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  if (options.nice === true) lowerPriority(child);
  return ended(child, options);
}

function ended(child: ChildProcess, options: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    let stdout = "";
    let stderr = "";
    const outputs = [child.stdout, child.stderr].filter((output) => output !== null);
    const stop = () => {
      killGroup(child);
      // A grandchild that left the group could hold the pipes open for ever.
      for (const output of outputs) output.destroy();
    };
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            stop();
          }, options.timeoutMs);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", stop);
      finish();
    };
    options.signal.addEventListener("abort", stop, { once: true });
    if (options.signal.aborted) stop();

    readLines(child.stdout, options.onLine, (text) => {
      if (stdout.length < MAX_KEPT) stdout += text;
    });
    readLines(child.stderr, options.onLine, (text) => {
      if (stderr.length < MAX_KEPT) stderr += text;
    });
    child.once("error", (error) => settle(() => reject(error)));
    child.once("close", (code, signal) =>
      settle(() => {
        if (options.signal.aborted) reject(options.signal.reason);
        else resolve({ code, signal, stdout, stderr, timedOut });
      }),
    );
  });
}

function readLines(
  output: Readable | null,
  onLine: ((line: string) => void) | undefined,
  onText: (text: string) => void,
): void {
  if (output === null) return;
  let rest = "";
  output.setEncoding("utf8");
  output.on("error", () => undefined);
  output.on("data", (text: string) => {
    onText(text);
    if (onLine === undefined) return;
    const lines = (rest + text).split(/\r?\n/);
    rest = (lines.pop() ?? "").slice(-MAX_LINE);
    for (const line of lines) onLine(line.slice(0, MAX_LINE));
  });
  output.on("close", () => {
    if (rest !== "") onLine?.(rest);
  });
}

function lowerPriority(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    setPriority(child.pid, NICENESS);
  } catch {
    // Not allowed, or already gone: the work is then done at the usual priority.
  }
}
