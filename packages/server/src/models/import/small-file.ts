import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Manifests and settings are a few kilobytes; a larger file is something else. */
const MAX_BYTES = 1024 * 1024;

/**
 * The text of a small file that another program wrote.
 * @throws Error, its message the end of a sentence about the file; with `code` where the system said no
 */
export async function readSmallFile(path: string): Promise<string> {
  // Without O_NONBLOCK a named pipe would keep open() waiting for a writer.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await handle.stat().then((stats) => {
      if (!stats.isFile()) throw new Error("is not a regular file");
      return stats;
    });
    if (size > MAX_BYTES) throw new Error("is too large to be what it should");
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await handle.read(buffer, 0, size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The value of a small JSON file. @throws Error as `readSmallFile`, or when it is not JSON */
export async function readSmallJson(path: string): Promise<unknown> {
  const text = await readSmallFile(path);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw new Error("is not JSON", { cause: error });
  }
}

/** `value[key]` where value is an object that has it itself. */
export function field(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

/** Why reading failed, as the end of a sentence about the file. */
export function readingProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : null;
  if (code === "ENOENT" || code === "ENOTDIR") return "leads to a file that is gone";
  if (code === "EACCES" || code === "EPERM") return "may not be read by this user";
  if (code === "ELOOP") return "is a symbolic link that leads to itself";
  if (code !== null) return `cannot be read (${code})`;
  return error instanceof Error ? error.message : "cannot be read";
}
