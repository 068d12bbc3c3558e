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

/** Starts `provide()` on the machine in another process. `said` grows while it runs. */
export function provideElsewhere(machine: FakeMachine): {
  child: ChildProcess;
  said: Said[];
  ended: Promise<void>;
} {
  const { cacheDir, catalogFile, env } = machine.options;
  const settings = JSON.stringify({ cacheDir, catalogFile, env, archive: machine.archive });
  const script = fileURLToPath(new URL("provide-elsewhere.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, settings], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: Said[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => said.push(JSON.parse(line) as Said));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { child, said, ended };
}
