import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Reads a file whole, so that its pages are in the page cache. */
export async function warm(path) {
  await readFile(path);
}

/**
 * Drops a file's pages from the page cache.
 * @returns {boolean} false where that cannot be done: no dd of GNU, or a memory-backed file system
 */
export function drop(path) {
  try {
    execFileSync("dd", [`if=${path}`, "iflag=nocache", "count=0"], { stdio: "ignore" });
    return cachedBytes(path) === 0;
  } catch {
    return false;
  }
}

function cachedBytes(path) {
  const told = execFileSync("fincore", ["--bytes", "--noheadings", "--output", "RES", path]);
  return Number(told.toString());
}
