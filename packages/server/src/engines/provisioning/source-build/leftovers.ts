import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../../observe/index.js";

const PATTERN = /^\.build-(\d+)-[0-9a-f]+$/;
/** A process number may have been given to somebody else; no build takes this long. */
const OLDEST_BUILD_MS = 24 * 3_600_000;

/** A fresh name for a work folder; it tells who works in it. */
export function workFolderName(): string {
  return `.build-${process.pid}-${randomBytes(4).toString("hex")}`;
}

/**
 * Removes work folders whose builder is dead. Call it only while holding the build lock. What
 * cannot be removed now is logged and stays for the next time.
 */
export async function sweepLeftovers(folder: string, log: Logger): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = PATTERN.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(folder, name);
    if (isAlive(Number(pid)) && !(await isOld(path))) continue;
    log.info({ folder: path }, "removing what an interrupted engine build left");
    await removeFolder(path, log);
  }
}

/** Removes a work folder; compilers that were just killed may still be closing files in it. */
export async function removeFolder(path: string, log: Logger): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch (error) {
    log.warn({ err: error, folder: path }, "cannot remove the engine build folder");
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs > OLDEST_BUILD_MS;
}
