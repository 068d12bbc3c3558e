import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { CLIENT_START_MS, runClient } from "./package-client.js";

/** A way to start pip. */
export interface Pip {
  command: readonly string[];
  version: string;
}

/** The first pip that answers, or null. `configured` is the only one tried when it is given. */
export async function findPip(
  configured: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Pip | null> {
  // Python first: a wrapper script named pip may start pip as its child, which would outlive a killed server.
  const usual = [["python3", "-m", "pip"], ["python", "-m", "pip"], ["pip3"], ["pip"]];
  if (process.platform === "win32") usual.unshift(["py", "-m", "pip"]);
  for (const command of configured ? [configured] : usual) {
    const { status, output } = await runClient(command, ["--version"], {
      env,
      signal,
      quietMs: () => CLIENT_START_MS,
    });
    const version = /^pip (\S+)/m.exec(output)?.[1];
    if (status === 0 && version) return { command, version };
  }
  return null;
}

/** Bytes of the download in pip's temporary folder: `pip-unpack-*` there, from where the finished file is copied. */
export async function pipDownloadSize(tempDir: string): Promise<number> {
  let largest = 0;
  for (const folder of await names(tempDir)) {
    if (!folder.startsWith("pip-unpack-")) continue;
    for (const file of await names(join(tempDir, folder))) {
      const found = await stat(join(tempDir, folder, file)).catch(() => null);
      if (found?.isFile()) largest = Math.max(largest, found.size);
    }
  }
  return largest;
}

/** Names in a folder that may vanish meanwhile. */
async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
