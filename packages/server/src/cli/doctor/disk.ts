import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { freeBytes } from "../../artifacts/index.js";
import type { SystemFiles } from "../../processes/index.js";
import { bytesText } from "../quantities.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const GB = 1e9;

/** Types of file systems by their number (statfs(2)), as far as they say how fast files load. */
const FILE_SYSTEMS: ReadonlyMap<number, { name: string; slow: boolean }> = new Map([
  [0x6969, { name: "NFS", slow: true }],
  [0xff534d42, { name: "CIFS", slow: true }],
  [0xfe534d42, { name: "SMB2", slow: true }],
  [0x517b, { name: "SMB", slow: true }],
  [0x01021997, { name: "9P", slow: true }],
  [0x65735546, { name: "FUSE", slow: true }],
  [0x01021994, { name: "memory (tmpfs)", slow: false }],
]);

/** A folder that needs room: it is written to, and how fast it is read decides how fast models load. */
export interface Folder {
  check: string;
  path: string;
  /** Bytes under which nothing can be done. */
  least: number;
  /** Bytes under which it becomes tight. */
  comfortable: number;
}

export function modelsFolder(path: string): Folder {
  return { check: "models folder", path, least: 0.6 * GB, comfortable: 10 * GB };
}

export function cacheFolder(path: string): Folder {
  return { check: "cache folder", path, least: 0.6 * GB, comfortable: 2 * GB };
}

/** Room, right to write and kind of disk of a folder, or of the nearest one above that exists. */
export async function checkFolder(folder: Folder, files: SystemFiles): Promise<Finding> {
  const { check, path } = folder;
  let at: string;
  let free: number;
  try {
    at = await nearestExisting(path);
    free = await freeBytes(path);
  } catch (error) {
    return fail(check, `${path}: ${(error as Error).message}`, "Choose another folder.");
  }
  const writable = await access(at, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!writable) {
    return fail(
      check,
      `${path} cannot be written to`,
      `Give yourself the right to write in ${at}, or choose another folder (config key pool.models_dir or paths.cache_dir).`,
    );
  }
  const disk = await diskOf(at, files);
  const found = `${path}: ${bytesText(free)} free${disk === null ? "" : `, ${disk.name}`}`;
  if (free < folder.least) return fail(check, found, "Free some space, or choose another folder.");
  if (free < folder.comfortable) {
    return warn(check, found, "That is tight for models and engines; free some space.");
  }
  if (disk?.slow) return warn(check, found, "Models load slowly from it; a local SSD is faster.");
  return ok(check, found);
}

/** The kind of disk under a folder; null where the system does not tell. */
async function diskOf(
  folder: string,
  files: SystemFiles,
): Promise<{ name: string; slow: boolean } | null> {
  const known = FILE_SYSTEMS.get((await statfs(folder)).type >>> 0);
  if (known !== undefined) return known;
  if (process.platform !== "linux") return null;
  const { dev } = await stat(folder);
  // The numbers of a device as the C library packs them (makedev(3)).
  const major = Math.floor(dev / 256) % 4_096;
  const minor = (dev % 256) + Math.floor(dev / 1_048_576) * 256;
  const device = `/sys/dev/block/${major}:${minor}`;
  const told =
    (await files.text(`${device}/queue/rotational`)) ??
    // A partition's disk is the folder above it.
    (await files.text(`${device}/../queue/rotational`));
  if (told === null) return null;
  const name = /^DEVNAME=(\S+)$/m.exec((await files.text(`${device}/uevent`)) ?? "")?.[1] ?? "";
  // A virtual disk says that it rotates, whatever it really is on.
  if (/^(?:vd|xvd)/.test(name)) return { name: "virtual disk of unknown speed", slow: false };
  return told === "1" ? { name: "hard disk", slow: true } : { name: "SSD", slow: false };
}

async function nearestExisting(path: string): Promise<string> {
  for (let at = resolve(path); ; at = dirname(at)) {
    const there = await stat(at).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT" || dirname(at) === at) throw error;
        return false;
      },
    );
    if (there) return at;
  }
}
