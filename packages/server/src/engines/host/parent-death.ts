import { execFile } from "node:child_process";

/** Whether the system ends a native server by itself when this process dies, however it dies. */
export type ParentDeath = "tied" | "loose";

export interface Launch {
  program: string;
  args: string[];
  parentDeath: ParentDeath;
}

let setpriv: Promise<boolean> | undefined;

/**
 * The command that runs a program tied to our life where the system can do that: on Linux through
 * util-linux's setpriv, which asks the kernel for a SIGKILL at the death of the parent thread.
 */
export async function tiedLaunch(program: string, args: string[]): Promise<Launch> {
  setpriv ??= canTie();
  if (!(await setpriv)) return { program, args, parentDeath: "loose" };
  return {
    program: "setpriv",
    args: ["--pdeathsig", "KILL", "--", program, ...args],
    parentDeath: "tied",
  };
}

/** Tries it out: BusyBox has a setpriv that lacks the option. */
function canTie(): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(false);
  return new Promise((resolve) => {
    execFile("setpriv", ["--pdeathsig", "KILL", "--", "true"], { timeout: 5000 }, (error) =>
      resolve(error === null),
    );
  });
}
