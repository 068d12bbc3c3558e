import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { killGroup, type ParentDeath, tiedToOurLife } from "../../processes/index.js";
import { type ExitReason, LoadError } from "../engine.js";
import { exitReason } from "./exit-reason.js";
import { LineRing, LineSplitter } from "./line-ring.js";
import { oomKills } from "./oom-kills.js";

/** How long a native server may take to end after SIGTERM before it is killed, ms. */
const DRAIN_MS = 5000;
/** How long after its end the rest of its output is waited for, ms. */
const OUTPUT_REST_MS = 200;

export interface ProcessSpec {
  /** Absolute path of the program. */
  program: string;
  args: string[];
  /** The whole environment; see `engineEnvironment`. */
  env: Record<string, string>;
  /** Called with each line that the program prints, on either stream. Must not throw. */
  onLine?: (line: string) => void;
  /** How long it may take to end when it is asked to, ms; 5000 when absent. */
  drainMs?: number;
}

/** A native server under our supervision. */
export interface HostedProcess {
  readonly pid: number;
  readonly parentDeath: ParentDeath;
  /** Resolves once, when the process is gone and its last output was read. Never rejects. */
  readonly exited: Promise<ExitReason>;
  /** The newest lines that it printed. */
  lastLines(count?: number): string[];
  /**
   * Ends it and resolves when it is gone. "drain" asks it first and kills it after a short while.
   * May be called again, also with "now" after "drain".
   */
  stop(how: "drain" | "now"): Promise<void>;
}

/**
 * Starts a native server, tied to our life where the system can do that.
 * Call it from the main thread: the tie follows the thread.
 * @throws LoadError when the program cannot be run at all
 */
export async function startProcess(spec: ProcessSpec): Promise<HostedProcess> {
  try {
    await access(spec.program, constants.X_OK);
  } catch (cause) {
    throw cannotRun(cause);
  }
  const launch = await tiedToOurLife(spec.program, spec.args, spec.env);
  const killsBefore = await oomKills();
  const child = spawn(launch.program, launch.args, {
    env: spec.env,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: Ctrl-C in a terminal is a wish to us, and what a wrapper script started ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });

  const ring = new LineRing();
  const onLine = (line: string) => {
    ring.add(line);
    spec.onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const splitter = new LineSplitter(ring.lineCharacters, onLine);
    stream.on("data", (bytes: Buffer) => splitter.write(bytes));
    stream.on("close", () => splitter.end());
    stream.on("error", () => {});
  }

  let asked = false;
  const gone = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const flushed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = gone.then(async ({ code, signal }): Promise<ExitReason> => {
    const rest = timer(OUTPUT_REST_MS);
    await Promise.race([flushed, rest.over]);
    rest.cancel();
    const kills = await oomKills();
    return exitReason({
      code,
      signal,
      lines: ring.last(),
      asked,
      oomKill: kills !== null && killsBefore !== null && kills > killsBefore,
    });
  });

  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(cannotRun(cause)));
  });
  child.on("error", () => {});

  return {
    pid: child.pid as number,
    parentDeath: launch.parentDeath,
    exited,
    lastLines: (count) => ring.last(count),
    async stop(how) {
      if (child.exitCode === null && child.signalCode === null) {
        asked = true;
        if (how === "now") {
          killGroup(child);
        } else {
          askGroup(child);
          const patience = timer(spec.drainMs ?? DRAIN_MS);
          const early = await Promise.race([gone, patience.over]);
          patience.cancel();
          if (early === undefined) killGroup(child);
        }
      }
      await exited;
    },
  };
}

/** Asks a child and the group that it leads to end. */
function askGroup(child: ChildProcess): void {
  try {
    if (process.platform === "win32" || child.pid === undefined) child.kill("SIGTERM");
    else process.kill(-child.pid, "SIGTERM");
  } catch {
    child.kill("SIGTERM");
  }
}

function cannotRun(cause: unknown): LoadError {
  const code = (cause as NodeJS.ErrnoException).code;
  const message =
    code === "ENOENT"
      ? "The engine program is missing."
      : code === "EACCES"
        ? "The engine program may not be run by this user."
        : `The engine program could not be started${code ? ` (${code})` : ""}.`;
  return new LoadError({ kind: "failed", message, code: null, signal: null, log: [] }, { cause });
}

function timer(ms: number): { over: Promise<undefined>; cancel: () => void } {
  let handle: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    handle = setTimeout(() => resolve(undefined), ms);
  });
  return { over, cancel: () => clearTimeout(handle) };
}
