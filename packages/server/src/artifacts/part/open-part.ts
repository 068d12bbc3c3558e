import { lstat, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../files/index.js";
import { provesContent } from "../download/answer.js";
import { type PartNote, readNote } from "./note.js";
import { createPart, type Expectation, namingFullDisk, type Part } from "./part.js";
import { clipRanges } from "./ranges.js";

/** Where the part of a file stands. */
export function partPathOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.part`);
}

/** Where its note stands. */
export function notePathOf(file: string): string {
  return `${partPathOf(file)}.json`;
}

/**
 * Opens the part of `file`, with the bytes that an earlier process left if they belong to what is expected
 * now: the same SHA-256, or the same source where none is known. Needs the file's lock.
 */
export async function openPart(
  file: string,
  expected: Expectation,
  source: string,
  signal: AbortSignal,
): Promise<Part> {
  const path = partPathOf(file);
  const notePath = notePathOf(file);
  const old = await usableNote(path, notePath, expected, source);
  if (!old) await removePart(file);
  const handle = await namingFullDisk(path, () => 0, open(path, old ? "r+" : "wx+"));
  try {
    return createPart({ path, notePath, handle, old, expected, source, signal });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Removes a part and its note. */
async function removePart(file: string): Promise<void> {
  for (const path of [partPathOf(file), notePathOf(file), `${notePathOf(file)}.new`]) {
    await rm(path, { force: true, recursive: true });
  }
}

async function usableNote(
  path: string,
  notePath: string,
  expected: Expectation,
  source: string,
): Promise<PartNote | null> {
  const note = await readNote(notePath);
  if (!note || note.ranges.length === 0) return null;
  const found = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  // Written into, a file with a second name would change under that name as well.
  if (!found?.isFile() || found.nlink > 1) return null;
  if (note.size !== null && expected.size !== null && note.size !== expected.size) return null;
  const sameContent = note.sha256 !== null && note.sha256 === expected.sha256;
  const sameSource =
    note.sha256 === expected.sha256 &&
    note.source === source &&
    (provesContent(note.validator) || note.joined.length > 0);
  if (!sameContent && !sameSource) return null;
  return {
    ...note,
    ranges: clipRanges(note.ranges, found.size).map(([start, end]) => [start, end]),
  };
}
