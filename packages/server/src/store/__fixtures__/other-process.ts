import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  compiledRooms,
  type OtherProcess,
  scriptOver,
  startProgram,
} from "../../../test/other-process/index.js";

/** The room compiled for all tests of a file: its thread cannot be started from TypeScript. */
export function compiledRoom(): {
  /** The folder. */
  path(): string;
  /** The room's face, with a store that has a thread. */
  face(): Promise<typeof import("../index.js")>;
} {
  const path = compiledRooms(["store/index.ts", "store/thread.ts"], "libsql");
  return {
    path,
    face: () => import(/* @vite-ignore */ pathToFileURL(join(path(), "store/index.js")).href),
  };
}

/** Runs a script over the compiled room, which it has as `room`, and with `log`, which says nothing; `prefix` is a command that runs it. */
export function startProcess(
  compiled: string,
  script: string,
  prefix: readonly string[] = [],
): OtherProcess {
  const log = "const log = { info() {}, warn() {}, error() {} };";
  const command = scriptOver(join(compiled, "store/index.js"), `${log}\n${script}`);
  return startProgram([...prefix, ...command]);
}
