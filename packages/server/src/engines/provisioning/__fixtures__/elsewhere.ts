import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { FakeMachine } from "./fake-machine.js";

/** What the other process said: progress, and at its end the program's path or an error. */
export interface Said {
  step?: string;
  done?: number;
  path?: string;
  error?: string;
}

/** A process that provides. `said` grows while it runs. */
export interface Elsewhere {
  child: ChildProcess;
  said: Said[];
  /** Hears what it says, as it comes. */
  onSaid?: (said: Said) => void;
  ended: Promise<void>;
}

/** Starts `provide()` on the machine in another process, as `user` where one is named. */
export function provideElsewhere(machine: FakeMachine, user?: number): Elsewhere {
  const { cacheDir, catalogFile, env, releaseBuild } = machine.options;
  const { archive } = machine;
  const settings = JSON.stringify({ cacheDir, catalogFile, env, archive, releaseBuild });
  const script = fileURLToPath(new URL("provide-elsewhere.mjs", import.meta.url));
  const dropped = ["--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", "--"];
  const [program = "", ...args] = [
    ...(user === undefined ? [] : ["setpriv", ...dropped]),
    ...[process.execPath, script, settings],
  ];
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: Said[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const one = JSON.parse(line) as Said;
    said.push(one);
    elsewhere.onSaid?.(one);
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const elsewhere: Elsewhere = { child, said, ended };
  return elsewhere;
}
