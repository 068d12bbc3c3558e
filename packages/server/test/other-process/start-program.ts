import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";

/** A process whose lines are read. */
export interface OtherProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** The next line it prints that the pattern fits; any when absent. Throws when it ends without one. */
  line(pattern?: RegExp): Promise<string>;
  /** Resolves with its exit status or signal. */
  readonly ended: Promise<number | string>;
}

/** Starts a program, which is killed after the test if it is still there. Its errors are shown. */
export function startProgram(
  [program = "", ...args]: readonly string[],
  { env = process.env }: { env?: NodeJS.ProcessEnv } = {},
): OtherProcess {
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit").then(
    ([status, signal]) => (signal ?? status) as number | string,
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    async line(pattern = /^/) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the other process ended: ${await ended}`);
        if (pattern.test(value)) return value;
      }
    },
  };
}

/** The command of a Node process that runs a script over a module, which the script has as `room`. */
export function scriptOver(module: string, script: string): readonly string[] {
  const room = JSON.stringify(pathToFileURL(module).href);
  const code = `import * as room from ${room};\n${script}`;
  return [process.execPath, "--input-type=module", "-e", code];
}
