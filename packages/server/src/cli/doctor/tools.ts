import { execFile } from "node:child_process";

/** What a program printed, or that it is not there or failed. */
export interface Answer {
  ok: boolean;
  /** Whether there is such a program at all. */
  found: boolean;
  output: string;
}

/** Runs a program that answers quickly. */
export type Ask = (program: string, args: string[]) => Promise<Answer>;

const TIMEOUT_MS = 10_000;

export function askWith(env: NodeJS.ProcessEnv): Ask {
  return (program, args) =>
    new Promise((resolve) => {
      const options = {
        env,
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        windowsHide: true,
      } as const;
      execFile(program, args, options, (error, stdout) => {
        const missing = error !== null && "code" in error && error.code === "ENOENT";
        resolve({ ok: error === null, found: !missing, output: stdout });
      });
    });
}
