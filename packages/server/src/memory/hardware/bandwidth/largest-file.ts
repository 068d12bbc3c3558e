import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** How deep and how far a folder is searched: models lie near the top. */
const MAX_DEPTH = 3;
const MAX_ENTRIES = 2_000;
/** Bytes of one of the blocks that stat(2) counts. */
const STAT_BLOCK = 512;

/**
 * The largest file below a folder that is at least so large, in bytes; null where there is none. A file
 * with holes does not count: reading them costs no disk anything.
 */
export async function largestFile(folder: string, leastBytes: number): Promise<string | null> {
  let largest: { path: string; size: number } | null = null;
  let entriesLeft = MAX_ENTRIES;
  const folders = [{ path: folder, depth: 0 }];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    const entries = await readdir(at.path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entriesLeft-- <= 0) return largest?.path ?? null;
      const path = join(at.path, entry.name);
      if (entry.isDirectory() && at.depth < MAX_DEPTH) folders.push({ path, depth: at.depth + 1 });
      if (!entry.isFile()) continue;
      const { size, blocks } = await stat(path).catch(() => ({ size: 0, blocks: 0 }));
      const isWhole = process.platform === "win32" || blocks * STAT_BLOCK >= size * 0.9;
      if (size >= Math.max(leastBytes, (largest?.size ?? 0) + 1) && isWhole)
        largest = { path, size };
    }
  }
  return largest?.path ?? null;
}
