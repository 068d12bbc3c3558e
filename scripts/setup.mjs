// Syntax of 2019 on purpose: an old Node must come as far as the message that says it is old.
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nodeComplaint } from "./lib/node-version.mjs";
import { SetupError } from "./lib/setup-error.mjs";

/**
 * Makes this checkout runnable: packages installed, sources built; does only what is needed.
 * @param {{ quiet?: boolean }} [options] quiet: no line for a step that is done
 * @returns {Promise<{ steps: string[] }>} what had to be done, in order
 * @throws SetupError: Node too old, npm failed, the build failed
 */
export async function setup(options) {
  const complaint = nodeComplaint(process.versions.node);
  if (complaint) throw new SetupError(complaint);
  const bootstrap = await import("./lib/bootstrap.mjs");
  return bootstrap.bootstrap(options);
}

/** Ends a script that failed: a set-up's message alone, anything unforeseen with its stack. */
export function reportAndFail(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  process.exitCode = 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  setup().then((done) => {
    if (done.steps.length === 0) console.error("Set-up is current; nothing to do.");
  }, reportAndFail);
}
