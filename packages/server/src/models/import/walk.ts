import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

/** What bounds a look through a folder. */
export interface WalkLimits {
  /** Folders below folders. */
  maxDepth: number;
  /** Files and folders, all together. */
  maxEntries: number;
}

export const WALK_LIMITS: WalkLimits = { maxDepth: 8, maxEntries: 50_000 };

export interface Walked {
  /** Paths below the folder that was asked for, in the order of their names. */
  files: string[];
  problems: { path: string; problem: string }[];
}

/**
 * The files below `root` that `wanted` likes by name. Symbolic links are followed, each folder is
 * entered once, and a link into nowhere counts as a file: whoever reads it learns what is wrong.
 * Unreadable folders and what lies beyond the limits are named among the problems; a missing root
 * gives nothing.
 *
 * @throws the signal's reason when aborted
 */
export async function walkFiles(
  root: string,
  wanted: (name: string) => boolean,
  signal: AbortSignal,
  limits: WalkLimits = WALK_LIMITS,
): Promise<Walked> {
  const walked: Walked = { files: [], problems: [] };
  const entered = new Set<string>();
  let entries = 0;

  async function enter(folder: string, depth: number): Promise<void> {
    signal.throwIfAborted();
    if (entries >= limits.maxEntries) return;
    let children: Dirent[];
    try {
      const real = await realpath(folder);
      if (entered.has(real)) return;
      entered.add(real);
      children = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      const problem = folderProblem(error);
      if (folder !== root || problem !== null) {
        walked.problems.push({ path: folder, problem: problem ?? "It is gone." });
      }
      return;
    }
    children.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const child of children) {
      signal.throwIfAborted();
      if (++entries > limits.maxEntries) {
        const most = limits.maxEntries.toLocaleString("en-US");
        const problem = `It holds more than ${most} files and folders; the rest was not looked at.`;
        walked.problems.push({ path: root, problem });
        return;
      }
      const path = join(folder, child.name);
      if (await isFolder(child, path)) {
        if (depth < limits.maxDepth) await enter(path, depth + 1);
        else walked.problems.push({ path, problem: "It lies too deep to be looked at." });
        if (entries > limits.maxEntries) return;
      } else if (wanted(child.name)) walked.files.push(path);
    }
  }

  await enter(root, 0);
  return walked;
}

/** Why a folder cannot be listed; null when it is not there or no folder. */
export function folderProblem(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  if (code === "EACCES" || code === "EPERM") return "This user may not read the folder.";
  if (code === "ELOOP") return "It is a symbolic link that leads to itself.";
  return `The folder cannot be read (${code}).`;
}

async function isFolder(child: Dirent, path: string): Promise<boolean> {
  if (!child.isSymbolicLink()) return child.isDirectory();
  return stat(path).then(
    (target) => target.isDirectory(),
    () => false,
  );
}
