import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import Type, { type Static } from "typebox";
import { replaceJson } from "../../files/index.js";
import { ReleaseAccelerator } from "./catalog.js";
import { readShaped } from "./read-shaped.js";

/** What identifies a file without reading it. Sizes in bytes, times in ms since 1970. */
const FileMark = Type.Object({
  size: Type.Number(),
  mtimeMs: Type.Number(),
  inode: Type.Number(),
});
export type FileMark = Static<typeof FileMark>;

/** Written when a program was accepted, so that the next start need not try it again. */
export const Receipt = Type.Object({
  receipt_version: Type.Literal(1),
  /** Absolute path of the program; for a program in the receipt's own folder its name only. */
  program: Type.String(),
  origin: Type.Union([
    Type.Literal("configured"),
    Type.Literal("path"),
    Type.Literal("local"),
    Type.Literal("release"),
    Type.Literal("source"),
  ]),
  version: Type.String(),
  build: Type.Union([Type.Integer(), Type.Null()]),
  sha256: Type.String(),
  file: FileMark,
  /** The processor on which it answered, see `processorKey`. */
  processor: Type.String(),
  /** Flags that it was seen to know. */
  flags: Type.Array(Type.String()),
  built_at: Type.Optional(Type.String()),
  /** What a source build was made with. */
  made_with: Type.Optional(
    Type.Object({ cmake_flags: Type.Array(Type.String()), generator: Type.String() }),
  ),
  /** What a release build was unpacked from. */
  release: Type.Optional(
    Type.Object({
      variant: Type.String(),
      accelerator: ReleaseAccelerator,
      files: Type.Array(
        Type.Object({
          file: Type.String(),
          size: Type.Number(),
          sha256: Type.String(),
          /** Who said what the digest must be. */
          pinned_by: Type.Union([Type.Literal("catalog"), Type.Literal("first download")]),
        }),
      ),
    }),
  ),
});
export type Receipt = Static<typeof Receipt>;

/** Size, time and inode of a file. @throws the system's error when there is none */
export async function markOf(file: string): Promise<FileMark> {
  const { size, mtimeMs, ino } = await stat(file);
  return { size, mtimeMs, inode: ino };
}

/** Whether two marks are those of the same unchanged file. */
export function sameMark(a: FileMark, b: FileMark): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.inode === b.inode;
}

/** The receipt in a file; null when there is none or it is not whole. */
export async function readReceipt(file: string): Promise<Receipt | null> {
  return readShaped(file, Receipt);
}

/** Replaces a receipt file in one step, see `writeJson`. */
export async function writeReceipt(file: string, receipt: Receipt): Promise<void> {
  await replaceJson(file, receipt);
}

/** SHA-256 of a file, lower-case hex. @throws the signal's reason when it fires */
export async function digestOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash, { signal });
  return hash.digest("hex");
}
