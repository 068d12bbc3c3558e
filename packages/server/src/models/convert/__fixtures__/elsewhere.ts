import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A conversion in another process. */
export interface Elsewhere {
  readonly child: ChildProcess;
  /** The first line from now on that the pattern fits. Throws when the process ends without one. */
  line(pattern: RegExp): Promise<string>;
  readonly ended: Promise<unknown>;
}

/**
 * Converts a folder in another process, which is killed after the test if it is still there.
 * @param settings `stopAt`: bytes of the output after which it stands still; `shell`: a command before it;
 *   `prefix`: a program and its arguments that run it
 */
export function convertElsewhere(settings: {
  folder: string;
  out: string;
  stopAt?: number;
  shell?: string;
  prefix?: readonly string[];
}): Elsewhere {
  const { shell, prefix = [], ...given } = settings;
  const script = fileURLToPath(new URL("convert-elsewhere.mjs", import.meta.url));
  const node = [...prefix, process.execPath, script, JSON.stringify(given)];
  const [program, ...args] =
    shell === undefined ? node : ["sh", "-c", `${shell}; exec "$@"`, "sh", ...node];
  const child = spawn(program!, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    async line(pattern) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the other process ended: ${await ended}`);
        if (pattern.test(value)) return value;
      }
    },
  };
}
