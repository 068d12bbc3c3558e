import { rename, rm, writeFile } from "node:fs/promises";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { readJson } from "../../files/index.js";

const Count = Type.Integer({ minimum: 0 });

const PartNote = Type.Object({
  note_version: Type.Literal(1),
  /** Of the whole file, as far as it was known. */
  size: Type.Union([Count, Type.Null()]),
  sha256: Type.Union([Type.String({ pattern: "^[0-9a-f]{64}$" }), Type.Null()]),
  /** The source whose bytes came last, for people; no secrets. */
  source: Type.String(),
  /** What that source calls this state of the file: an ETag or a date (RFC 9110, 8.8). */
  validator: Type.Union([Type.String(), Type.Null()]),
  /** The pieces that are here: first byte, byte after the last one. */
  ranges: Type.Array(Type.Tuple([Count, Count])),
  /** The members that the file begins with, and where each of them ends in it. */
  joined: Type.Array(Type.Object({ member: Type.String(), end: Count })),
});

/** What a part's bytes are; stands beside it as `.<file>.part.json`. */
export type PartNote = Type.Static<typeof PartNote>;

/** The note of a part; null where there is none or it cannot be read as one. */
export async function readNote(path: string): Promise<PartNote | null> {
  const content = await readJson(path);
  if (!Value.Check(PartNote, content)) return null;
  const inOrder = content.ranges.every(
    ([start, end], index) => start < end && start > (content.ranges[index - 1]?.[1] ?? -1),
  );
  return inOrder ? content : null;
}

/**
 * Replaces the note in one step. Only the holder of the file's lock writes it, several times a second: so
 * the draft has one name, and is not brought to the disk.
 */
export async function writeNote(path: string, note: PartNote): Promise<void> {
  const draft = `${path}.new`;
  try {
    await writeFile(draft, JSON.stringify(note));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
