import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../../observe/index.js";
import { livenessOf, ownIdentity, readIdentity, writeIdentity } from "../../../processes/index.js";

const PATTERN = /^\.build-([^-]+)-[0-9a-f]+$/;
/** Where a builder cannot be looked up: no build takes this long. */
const OLDEST_BUILD_MS = 24 * 3_600_000;

/** A fresh name for a work folder; it tells who works in it. */
export async function workFolderName(): Promise<string> {
  return `.build-${writeIdentity(await ownIdentity())}-${randomBytes(4).toString("hex")}`;
}

/**
 * Removes work folders whose builder is dead. Call it only while holding the build lock. What
 * cannot be removed now is logged and stays for the next time.
 */
export async function sweepLeftovers(folder: string, log: Logger): Promise<void> {
  for (const name of await readdir(folder)) {
    const builder = readIdentity(PATTERN.exec(name)?.[1] ?? "");
    if (builder === null) continue;
    const path = join(folder, name);
    const liveness = await livenessOf(builder);
    if (liveness === "alive" || (liveness === "unknown" && !(await isOld(path)))) continue;
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

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs > OLDEST_BUILD_MS;
}
