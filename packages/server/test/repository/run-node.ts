import { spawn } from "node:child_process";

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs this Node.js with `args` to its end, outside the reach of the vitest that runs the test. */
export function runNode(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<Ended> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|TEST_RESULTS_FILE|NODE_ENV|NODE_OPTIONS|npm_|CI$)/.test(name),
  );
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd,
      env: { ...Object.fromEntries(own), NO_COLOR: "1", ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}
