import { fileURLToPath } from "node:url";
import { type OtherProcess, startProgram } from "../../../../test/other-process/index.js";

/**
 * Converts a folder in another process.
 * @param settings `stopAt`: bytes of the output after which it stands still; `prefix`: a program and its arguments
 *   that run it
 */
export function convertElsewhere({
  prefix = [],
  ...given
}: {
  folder: string;
  out: string;
  stopAt?: number;
  prefix?: readonly string[];
}): OtherProcess {
  const script = fileURLToPath(new URL("convert-elsewhere.mjs", import.meta.url));
  return startProgram([...prefix, process.execPath, script, JSON.stringify(given)]);
}
