import { createInterface } from "node:readline/promises";
import { interrupted } from "./failure.js";
import type { Io } from "./io.js";

/** Whether somebody sits at a terminal who could be asked. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY === true && io.err.isTerminal;
}

/**
 * Asks a question that only "y" or "yes" affirms.
 * @throws CliFailure on Ctrl-C
 */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const abort = new AbortController();
  const lines = createInterface({ input: io.stdin, output: io.err.stream, terminal: false });
  const release = io.onSignal("SIGINT", () => abort.abort());
  const { signal } = abort;
  // The end of the input, Ctrl-D, is a no.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended]);
    return /^\s*y(es)?\s*$/i.test(answer);
  } catch (error) {
    if (signal.aborted) throw interrupted("Nothing was changed.");
    throw error;
  } finally {
    release();
    lines.close();
    io.stdin.pause();
  }
}
