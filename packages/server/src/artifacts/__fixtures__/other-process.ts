import { join } from "node:path";
import {
  compiledRooms,
  type OtherProcess,
  scriptOver,
  startProgram,
} from "../../../test/other-process/index.js";

/** This room compiled for all tests of a file; the function gives the folder. */
export const compiledRoom = () => compiledRooms(["artifacts/index.ts"], "undici");

/** Runs a script over the compiled room, which it has as `room`; `prefix` is a command that runs it. */
export function startProcess(
  compiled: string,
  script: string,
  { env = process.env, prefix = [] }: { env?: NodeJS.ProcessEnv; prefix?: readonly string[] } = {},
): OtherProcess {
  const command = scriptOver(join(compiled, "artifacts/index.js"), script);
  return startProgram([...prefix, ...command], { env });
}
