import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CLIENT_START_MS, runClient } from "./package-client.js";

/** A way to start npm. */
export interface Npm {
  command: readonly string[];
  version: string;
}

/** The first npm that answers, or null. `configured` is the only one tried when it is given. */
export async function findNpm(
  configured: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Npm | null> {
  const node = dirname(process.execPath);
  // Windows starts npm through a script that only a shell runs; its program beside Node needs none.
  const usual =
    process.platform === "win32"
      ? [[process.execPath, join(node, "node_modules", "npm", "bin", "npm-cli.js")]]
      : [["npm"], [join(node, "npm")]];
  for (const command of configured ? [configured] : usual) {
    const { status, output } = await runClient(command, ["--version"], {
      env,
      signal,
      quietMs: () => CLIENT_START_MS,
    });
    const version = /^(\d+\.\d+\.\S+)\s*$/m.exec(output)?.[1];
    // The first one that packs into a named folder is 7.
    if (status === 0 && version && Number.parseInt(version, 10) >= 7) return { command, version };
  }
  return null;
}

/** Bytes of the largest file in npm's cache folder, which is a download's while it runs. */
export async function npmDownloadSize(cache: string): Promise<number> {
  const found = await readdir(cache, { recursive: true }).catch(() => []);
  let largest = 0;
  for (const name of found) {
    const file = await stat(join(cache, name)).catch(() => null);
    if (file?.isFile()) largest = Math.max(largest, file.size);
  }
  return largest;
}
