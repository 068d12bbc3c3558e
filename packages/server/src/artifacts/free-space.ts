import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../files/index.js";
import { SourceFailure } from "./failure.js";

/** Bytes that an ordinary user can still write at `dir`, asked of its nearest existing parent. */
export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestExisting(dir));
  return bavail * bsize;
}

async function nearestExisting(dir: string): Promise<string> {
  for (let at = resolve(dir); ; at = dirname(at)) {
    try {
      await stat(at);
      return at;
    } catch (error) {
      const missing = errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR";
      if (!missing || dirname(at) === at) throw error;
    }
  }
}

/** Room that a source needs in a folder. */
export interface Need {
  dir: string;
  bytes: number;
}

/** Throws a `disk` failure when the folders lack room; needs on the same file system are added up. */
export async function requireSpace(needs: Need[]): Promise<void> {
  const perDevice = new Map<number, Need>();
  for (const { dir, bytes } of needs) {
    const { dev } = await stat(await nearestExisting(dir));
    const known = perDevice.get(dev);
    if (known) known.bytes += bytes;
    else perDevice.set(dev, { dir, bytes });
  }
  for (const { dir, bytes } of perDevice.values()) {
    const free = await freeBytes(dir);
    if (free < bytes) {
      throw new SourceFailure(
        "disk",
        `it needs about ${readableBytes(bytes)} of disk space in ${dir}, where ${readableBytes(free)} are free`,
      );
    }
  }
}

/** Whether the system says that no more can be written: full disk, used-up quota, file size limit. */
export function isDiskFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(errorCode(error));
}

/** Bytes for people, in powers of 1000 as disks are sold. */
export function readableBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"] as const;
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
