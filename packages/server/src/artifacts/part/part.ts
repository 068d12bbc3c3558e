import { type FileHandle, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { SourceFailure } from "../failure.js";
import { isDiskFull, readableBytes } from "../free-space.js";
import { type PartNote, writeNote } from "./note.js";
import { createPrefixHash, type PrefixHash } from "./prefix-hash.js";
import {
  addRange,
  clipRanges,
  missingRanges,
  type Range,
  rangeBytes,
  wholeFromStart,
} from "./ranges.js";

/** What a file must be; null where nobody knows. */
export interface Expectation {
  size: number | null;
  /** Lower-case hex. */
  sha256: string | null;
}

/** A file that is complete and right. */
export interface Sealed {
  path: string;
  size: number;
  sha256: string;
}

/**
 * A file being received, in pieces and in any order. What came stays on disk beside a note of what it is, so that
 * another process can go on with it; it is trusted only once sealed.
 */
export interface Part {
  readonly path: string;
  readonly expected: Readonly<Expectation>;
  /** Bytes that are here. */
  readonly done: number;
  /** How far it is whole from its beginning. */
  readonly whole: number;
  /** What the source of this attempt called the state of the file that the bytes are of; null when others brought them. */
  readonly validator: string | null;
  /** The members that it begins with, and where they end. */
  readonly joined: PartNote["joined"];
  /** Some bytes are from before this object was made. */
  readonly resumed: boolean;
  /** The result, once sealed. */
  readonly sealed: Sealed | null;
  /** What is not here; only for a known size. */
  missing(): Range[];
  /** Learns the size from the source. Throws `wrong` when another one is expected. */
  learnSize(size: number): void;
  /** From now on the bytes come from here. */
  from(validator: string | null): void;
  /** Throws `wrong` for bytes past the expected end, `disk` when there is no room. */
  write(at: number, bytes: Buffer): Promise<void>;
  /** Notes that everything so far is these members, so that they survive whatever comes. */
  noteJoined(joined: PartNote["joined"]): Promise<void>;
  /** Forgets everything from `end` on; at 0 also what was learnt of the file. */
  cut(end: number): Promise<void>;
  /**
   * Checks size and hash, then brings the bytes to the disk. Throws `faltered` when bytes are missing, and on
   * another hash `corrupt` (where kept bytes may be at fault) or `wrong`; the bytes are gone then.
   */
  seal(): Promise<Sealed>;
  /** Closes it. An unsealed part with bytes stays; one without goes. */
  close(): Promise<void>;
}

/** After this time with new bytes the note is written again: what a killed process loses at most. */
const NOTE_EVERY_MS = 250;
/** The same where no hash will tell damage after a power cut, so that bytes must be on the disk before their note. */
const SYNC_EVERY_MS = 2_000;
const HEAD_BYTES = 512;

/** The reason for a file whose content is not the expected one. */
export function otherHash(sha256: string, expected: string): string {
  return `its content is another one: SHA-256 ${sha256} instead of ${expected}`;
}

/** What a part begins with; `old` is the note of the bytes that are in the file. */
export interface PartSetUp {
  path: string;
  notePath: string;
  handle: FileHandle;
  old: PartNote | null;
  expected: Expectation;
  source: string;
  signal: AbortSignal;
}

/** The part in an open file, which it closes. */
export function createPart({
  path,
  notePath,
  old,
  expected,
  source,
  signal,
  ...setUp
}: PartSetUp): Part {
  let handle: FileHandle | null = setUp.handle;
  let ranges: Range[] = (old?.ranges ?? []).map(([start, end]): Range => [start, end]);
  let joined = (old?.joined ?? []).filter(({ end }) => end <= wholeFromStart(ranges));
  let origin = { source: old?.source ?? source, validator: old?.validator ?? null };
  let resumed = ranges.length > 0;
  let sealed: Sealed | null = null;
  let notedAt = performance.now();
  let noting: Promise<void> | null = null;
  let head = Buffer.alloc(0);
  const wanted: Expectation = { ...expected, size: expected.size ?? old?.size ?? null };
  const hash: PrefixHash = createPrefixHash(handle);
  hash.grow(wholeFromStart(ranges));

  const kept = () => rangeBytes(ranges);
  const use = (): FileHandle => {
    if (!handle) throw new Error(`${path} is closed`);
    return handle;
  };
  const refuse = (kind: "faltered" | "wrong" | "corrupt", reason: string) =>
    looksLikeHtml(head)
      ? new SourceFailure("wrong", `it answered with a web page instead of the file (${reason})`)
      : new SourceFailure(kind, reason);

  async function note(): Promise<void> {
    const state: PartNote = {
      note_version: 1,
      ...wanted,
      ...origin,
      ranges: ranges.map(([start, end]) => [start, end]),
      joined,
    };
    if (wanted.sha256 === null) await use().datasync();
    await writeNote(notePath, state);
  }

  /** One note at a time, so that an older state never replaces a newer one. */
  async function noteNow(): Promise<void> {
    await noting;
    noting = note().finally(() => {
      noting = null;
      notedAt = performance.now();
    });
    await namingFullDisk(path, kept, noting);
  }

  async function cut(end: number): Promise<void> {
    await hash.cut(end);
    ranges = clipRanges(ranges, end);
    joined = joined.filter((one) => one.end <= end);
    if (end === 0) {
      resumed = false;
      head = Buffer.alloc(0);
      wanted.size = expected.size;
      origin = { source, validator: null };
    }
    await noteNow();
    await use().truncate(end);
    hash.grow(wholeFromStart(ranges));
  }

  return {
    path,
    expected: wanted,
    get done() {
      return kept();
    },
    get whole() {
      return wholeFromStart(ranges);
    },
    get validator() {
      return origin.source === source ? origin.validator : null;
    },
    get joined() {
      return joined;
    },
    get resumed() {
      return resumed;
    },
    get sealed() {
      return sealed;
    },
    missing() {
      if (wanted.size === null) throw new Error("the size is not known yet");
      return missingRanges(ranges, wanted.size);
    },
    learnSize(size) {
      if (wanted.size !== null && wanted.size !== size) {
        throw refuse("wrong", `it offers ${size} bytes instead of ${wanted.size}`);
      }
      wanted.size = size;
    },
    from(validator) {
      origin = { source, validator };
    },
    async write(at, bytes) {
      const file = use();
      if (at < HEAD_BYTES && at === head.length) {
        head = Buffer.concat([head, bytes.subarray(0, HEAD_BYTES - at)]);
      }
      if (wanted.size !== null && at + bytes.length > wanted.size) {
        const failure = refuse("wrong", `it sends more than the expected ${wanted.size} bytes`);
        await cut(0);
        throw failure;
      }
      const note = (end: number) => {
        ranges = addRange(ranges, [at, end]);
      };
      await namingFullDisk(path, kept, writeAll(file, bytes, at, note));
      hash.wrote(at, bytes);
      hash.grow(wholeFromStart(ranges));
      const every = wanted.sha256 === null ? SYNC_EVERY_MS : NOTE_EVERY_MS;
      if (!noting && performance.now() - notedAt >= every) await noteNow();
    },
    async noteJoined(members) {
      joined = members;
      await noteNow();
    },
    cut,
    async seal() {
      const file = use();
      const size = wanted.size ?? wholeFromStart(ranges);
      const done = rangeBytes(ranges);
      if (done < size) {
        const failure = refuse("faltered", `it ended after ${done} of ${size} bytes`);
        if (failure.kind === "wrong") await cut(0);
        throw failure;
      }
      wanted.size = size;
      await noteNow();
      const sha256 = await hash.finish(size, signal);
      if (wanted.sha256 !== null && sha256 !== wanted.sha256) {
        const failure = refuse(resumed ? "corrupt" : "wrong", otherHash(sha256, wanted.sha256));
        await cut(0);
        throw failure;
      }
      if (wanted.sha256 === null && looksLikeHtml(head)) {
        await cut(0);
        throw new SourceFailure("wrong", "it answered with a web page instead of the file");
      }
      await namingFullDisk(path, kept, file.truncate(size));
      await namingFullDisk(path, kept, file.sync());
      await hash.stop();
      handle = null;
      await namingFullDisk(path, kept, file.close());
      sealed = { path, size, sha256 };
      return sealed;
    },
    async close() {
      await hash.stop();
      const file = handle;
      if (!file) return;
      if (ranges.length > 0) {
        // Without its last note the part is a little shorter for the next process.
        await noteNow().catch(() => {});
      }
      await noting?.catch(() => {});
      handle = null;
      // What a failed close may have lost shows in the hash.
      await file.close().catch(() => {});
      if (ranges.length > 0) return;
      await rm(path, { force: true });
      await rm(notePath, { force: true });
    },
  };
}

function looksLikeHtml(head: Buffer): boolean {
  return /^\s*(<!doctype html|<html|<head|<\?xml[^>]*>\s*<html)/i.test(head.toString("latin1"));
}

/** Writes all bytes; `wrote` hears how far the file reaches, also when a full disk takes only some of them. */
async function writeAll(
  handle: FileHandle,
  bytes: Buffer,
  at: number,
  wrote: (end: number) => void,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
    wrote(at + done);
  }
}

/**
 * A full disk as a failure that says what stays. The bytes that came are kept: they may have cost an hour, and
 * whoever needs their room back can remove the file that is named.
 */
export async function namingFullDisk<T>(
  path: string,
  kept: () => number,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const bytes = kept();
    const rest = bytes > 0 ? `; the ${readableBytes(bytes)} that came are kept in ${path}` : "";
    throw new SourceFailure("disk", `no space is left to write in ${dirname(path)}${rest}`, {
      cause: error,
    });
  }
}
