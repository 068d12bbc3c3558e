import { lstat, rm, rmdir } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { broughtHere, companionsOf } from "../../artifacts/index.js";

/** What lies in the place of a file, and beside it because of it. */
export interface Traces {
  /** Whose the file under that name is; null when there is none. */
  whole: "ours" | "foreign" | null;
  /** What an unfinished fetch keeps beside it, absolute. */
  parts: string[];
  /** Bytes of all that is ours. */
  size: number;
}

/**
 * Looks at the place of a file. The file is ours when a receipt beside it says that it was brought or made here;
 * the receipt of one that was only looked at does not say that.
 */
export async function tracesOf(path: string): Promise<Traces> {
  const parts: string[] = [];
  let size = 0;
  for (const part of companionsOf(path)) {
    const found = await lstat(part).catch(() => null);
    if (found === null) continue;
    parts.push(part);
    size += found.isFile() ? found.size : 0;
  }
  const found = await lstat(path).catch(() => null);
  if (found === null) return { whole: null, parts, size };
  const isOurs = await broughtHere(path);
  if (isOurs && found.isFile()) size += found.size;
  return { whole: isOurs ? "ours" : "foreign", parts, size };
}

/** Removes what an unfinished fetch keeps beside a file, and not the file. */
export async function removeParts(path: string): Promise<void> {
  for (const part of companionsOf(path)) await rm(part, { force: true });
}

/** Removes the folders around a file that hold nothing any more, up to the models folder. */
export async function removeEmptyFolders(modelsDir: string, file: string): Promise<void> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const inside = relative(modelsDir, folder);
    if (inside === "" || inside.startsWith("..")) return;
    try {
      await rmdir(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      // It holds something, or is not ours to remove.
      return;
    }
  }
}
