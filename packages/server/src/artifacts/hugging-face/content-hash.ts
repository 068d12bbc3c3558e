import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** The hashes that the hub names content by, lower-case hex. */
export interface ContentHashes {
  sha256: string;
  /** SHA-1 of git's blob: of "blob <size>\0" and the content. Null unless the content goes by it. */
  gitBlob: string | null;
}

/**
 * Reads a whole file once, for its SHA-256 and, where `etag` is one of git, its blob's SHA-1. `reached` hears the bytes
 * so far.
 */
export async function hashContent(
  file: { path: string; size: number; etag: string | null },
  signal: AbortSignal,
  reached: (bytes: number) => void = () => {},
): Promise<ContentHashes> {
  const sha256 = createHash("sha256");
  const blob = isGitBlob(file.etag) ? createHash("sha1").update(`blob ${file.size}\0`) : null;
  let read = 0;
  for await (const chunk of createReadStream(file.path, {
    highWaterMark: 1 << 20,
    signal,
  }) as AsyncIterable<Buffer>) {
    sha256.update(chunk);
    blob?.update(chunk);
    read += chunk.length;
    reached(read);
  }
  return { sha256: sha256.digest("hex"), gitBlob: blob?.digest("hex") ?? null };
}

/** Whether what the hub says of content is git's hash, as it is of small files. */
export function isGitBlob(etag: string | null): etag is string {
  return etag?.length === 40;
}

/** The reason for content that is not what the hub says: both hashes of one kind. */
export function otherContent(is: string | null, wanted: string): string {
  const kind = isGitBlob(wanted) ? "git's SHA-1" : "SHA-256";
  return `its content is another one: ${kind} ${is} instead of ${wanted}`;
}
