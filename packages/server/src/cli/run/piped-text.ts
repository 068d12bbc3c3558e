import { StringDecoder } from "node:string_decoder";
import { usageError } from "../failure.js";
import type { Io } from "../io.js";

/** More than any model's context; a longer input was piped by mistake. */
const MAX_CHARACTERS = 16_000_000;
/** After this long without a byte somebody may wonder what the program waits for, milliseconds. */
const WONDER_MS = 2_000;

/**
 * All text of standard input, its last line end taken off.
 * @throws CliFailure when it is longer than any model could read
 */
export async function readPipedText(io: Io, hasPrompt: boolean): Promise<string> {
  const hint = hasPrompt ? " (redirect it from /dev/null if there is none)" : "";
  const timer = setTimeout(() => {
    io.err.line(`Waiting for the end of standard input${hint} ...`);
  }, WONDER_MS);
  const decoder = new StringDecoder("utf8");
  let text = "";
  try {
    for await (const piece of io.stdin) {
      clearTimeout(timer);
      text += typeof piece === "string" ? piece : decoder.write(piece as Buffer);
      if (text.length > MAX_CHARACTERS) {
        throw usageError("The piped text is too long for any model.", "Pipe a part of it.");
      }
    }
  } finally {
    clearTimeout(timer);
  }
  return (text + decoder.end()).replace(/\r?\n$/, "");
}
