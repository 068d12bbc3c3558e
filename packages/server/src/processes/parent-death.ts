import { execFile } from "node:child_process";
import { findProgram } from "./find-program.js";

/** Whether the system ends a child by itself when this process dies, however it dies. */
export type ParentDeath = "tied" | "loose";

/** What to start in place of a command. */
export interface TiedCommand {
  program: string;
  args: string[];
  parentDeath: ParentDeath;
}

const TIE = ["--pdeathsig", "KILL", "--"] as const;
const TRIAL_MS = 5000;

/** What is known of the setpriv programs on this machine, by path. */
const trials = new Map<string, Promise<boolean>>();

/**
 * The command that runs a program tied to our life where the system can do that: on Linux through
 * util-linux's setpriv, found on the search path of `env`, which asks the kernel for a SIGKILL when the
 * parent's thread dies. So start it from the main thread.
 * (https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html)
 */
export async function tiedToOurLife(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<TiedCommand> {
  const setpriv = process.platform === "linux" ? await findProgram("setpriv", env) : null;
  if (setpriv === null || !(await canTie(setpriv))) {
    return { program, args: [...args], parentDeath: "loose" };
  }
  return { program: setpriv, args: [...TIE, program, ...args], parentDeath: "tied" };
}

/** Tries it out: BusyBox has a setpriv that lacks the option. */
function canTie(setpriv: string): Promise<boolean> {
  let trial = trials.get(setpriv);
  if (trial === undefined) {
    trial = new Promise((resolve) => {
      execFile(setpriv, [...TIE, "true"], { timeout: TRIAL_MS }, (error) =>
        resolve(error === null),
      );
    });
    trials.set(setpriv, trial);
  }
  return trial;
}
