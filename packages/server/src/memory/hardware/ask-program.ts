import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { killGroup, tiedToOurLife } from "../../processes/index.js";

/** What came of asking a program something. */
export type Answer =
  | { kind: "ended"; code: number | null; stdout: string; stderr: string }
  /** It did not answer in time, or one that was asked before still hangs. */
  | { kind: "slow" }
  /** It could not be started. */
  | { kind: "failed"; message: string };

export interface AskOptions {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  timeoutMs: number;
}

const MAX_KEPT = 4_000_000;

/** Programs that were given up and have not ended yet. */
const hanging = new Map<string, number>();

/**
 * Asks a program, given by its whole path, and takes what it prints. It is killed when it takes too
 * long or `signal` fires, and this does not wait for its end then: a program that waits for a broken
 * device cannot be killed. As long as one hangs it is not started again, so that they do not pile up.
 * @throws the signal's reason when it fires
 */
export async function askProgram(
  program: string,
  args: readonly string[],
  { env, signal, timeoutMs }: AskOptions,
): Promise<Answer> {
  signal.throwIfAborted();
  if ((hanging.get(program) ?? 0) > 0) return { kind: "slow" };
  const tied = await tiedToOurLife(program, args, env);
  signal.throwIfAborted();
  const child = spawn(tied.program, tied.args, {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  return new Promise((resolve, reject) => {
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const onAbort = () =>
      settle(() => {
        giveUp(program, child);
        reject(signal.reason);
      });
    const timer = setTimeout(
      () =>
        settle(() => {
          giveUp(program, child);
          resolve({ kind: "slow" });
        }),
      timeoutMs,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    child.once("error", (error) =>
      settle(() => resolve({ kind: "failed", message: error.message })),
    );
    child.once("close", (code) =>
      settle(() => resolve({ kind: "ended", code, stdout: stdout(), stderr: stderr() })),
    );
  });
}

function giveUp(program: string, child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    hanging.set(program, (hanging.get(program) ?? 0) + 1);
    child.once("exit", () => {
      const left = (hanging.get(program) ?? 1) - 1;
      if (left > 0) hanging.set(program, left);
      else hanging.delete(program);
    });
  }
  killGroup(child);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}

function collect(output: Readable | null): () => string {
  let text = "";
  output?.setEncoding("utf8");
  output?.on("error", () => undefined);
  output?.on("data", (part: string) => {
    if (text.length < MAX_KEPT) text += part;
  });
  return () => text;
}
