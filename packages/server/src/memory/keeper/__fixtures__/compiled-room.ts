import { join } from "node:path";
import {
  compiledRooms,
  type OtherProcess,
  scriptOver,
  startProgram,
} from "../../../../test/other-process/index.js";

/** The keeper as plain JavaScript, so that another Node process runs today's sources. */
export interface CompiledRoom {
  folder: string;
  /** The code of the keeper process. */
  program: string;
}

/**
 * Compiled for all tests of a file; the function gives it.
 * @param native whether the keeper process finds its native calls
 */
export function compiledRoom({ native = true } = {}): () => CompiledRoom {
  const entries = ["memory/keeper/index.ts", "memory/keeper/child/main.ts"];
  const folder = compiledRooms(entries, native ? "koffi" : undefined);
  return () => ({ folder: folder(), program: join(folder(), "memory/keeper/child/main.js") });
}

/** Another process that tells values. */
export interface Elsewhere extends OtherProcess {
  /** What it prints next, read as JSON. Throws when it ends without that. */
  next<T>(): Promise<T>;
}

/**
 * Runs a script in another process. It has a file of the compiled room as `room` and tells with `tell(value)`.
 * @param prefix a command that runs the rest of its arguments
 */
export function elsewhere(
  { folder }: CompiledRoom,
  file: string,
  script: string,
  prefix: readonly string[] = [],
): Elsewhere {
  const code = `const tell = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
    const log = { info() {}, warn() {}, error() {} };
    const signal = new AbortController().signal;
    ${script}`;
  const other = startProgram([...prefix, ...scriptOver(join(folder, file), code)]);
  return {
    ...other,
    async next<T>() {
      return JSON.parse(await other.line()) as T;
    },
  };
}
