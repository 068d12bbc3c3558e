import { join } from "node:path";
import { isExecutableFile } from "../../processes/index.js";
import { accept, type Verdict } from "./accept.js";
import { type Context, programFile, RECEIPT } from "./way.js";

/**
 * The build in a folder of its own among the engines; null when there is none. One that no longer works
 * is a logged refusal.
 * @param what it is called in the log
 * @throws the signal's reason when it fires
 */
export async function acceptFolder(
  { folder }: { folder: string },
  origin: "release" | "source",
  what: string,
  { root, engine, trial, options }: Pick<Context, "root" | "engine" | "trial" | "options">,
  signal: AbortSignal,
): Promise<Verdict | null> {
  const path = join(root, folder, programFile(engine));
  if (!(await isExecutableFile(path))) return null;
  const receiptFile = join(root, folder, RECEIPT);
  const verdict = await accept({ path, origin, receiptFile }, trial, signal);
  if (!verdict.accepted) {
    options.log.warn({ path }, `${what} cannot be used: ${verdict.reason}`);
  }
  return verdict;
}
