import { execFile } from "node:child_process";
import { engineEnvironment } from "../host/index.js";

const PATIENCE_MS = 20_000;

/**
 * Accelerators that a llama-server finds, by its own names ("CUDA0", "Vulkan0"). None where it has
 * none, and where it cannot be asked: the load itself then tells what is wrong.
 */
export function listDevices(
  program: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string[]> {
  return new Promise((resolve) => {
    execFile(
      program,
      ["--list-devices"],
      { env: engineEnvironment(env, {}), timeout: PATIENCE_MS, windowsHide: true },
      (error, stdout) => resolve(error ? [] : parseDevices(stdout)),
    );
  });
}

/** Names in the list that `--list-devices` prints: indented, a colon after the name. */
export function parseDevices(listing: string): string[] {
  const lines = listing.split("\n");
  const head = lines.findIndex((line) => /^available devices/i.test(line.trim()));
  return lines.slice(head + 1).flatMap((line) => /^\s+([\w-]+):/.exec(line)?.[1] ?? []);
}
