import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { ArtifactSpec } from "./artifact.js";
import { SourceFailure } from "./failure.js";
import { isDiskFull } from "./free-space.js";

/** A file being received: counted, hashed and bounded while it is written, trusted only once sealed. */
export interface PartFile {
  readonly path: string;
  /** Bytes so far. */
  readonly received: number;
  /** Throws a `wrong` failure as soon as more than the expected bytes come, `disk` when there is no room. */
  write(chunk: Buffer): Promise<void>;
  /** Checks size and hash, then brings the bytes to the disk. Throws `faltered` when short, `wrong` on another hash. */
  seal(): Promise<void>;
  /** Closes the file if it still is open, and removes it unless it was sealed. Never throws for a file that is gone. */
  close(): Promise<void>;
}

/** Creates the part file; it must not exist yet. */
export async function createPartFile(path: string, spec: ArtifactSpec): Promise<PartFile> {
  const hash = createHash("sha256");
  const head: Buffer[] = [];
  let handle: FileHandle | null = await openPart(path);
  let received = 0;
  let sealed = false;

  const refuse = (kind: "faltered" | "wrong", reason: string) =>
    looksLikeHtml(Buffer.concat(head))
      ? new SourceFailure("wrong", `it answered with a web page instead of the file (${reason})`)
      : new SourceFailure(kind, reason);

  return {
    path,
    get received() {
      return received;
    },
    async write(chunk) {
      if (!handle) throw new Error(`${path} is closed`);
      if (received < HEAD_BYTES) head.push(chunk.subarray(0, HEAD_BYTES - received));
      if (received + chunk.length > spec.size) {
        throw refuse("wrong", `it sends more than the expected ${spec.size} bytes`);
      }
      hash.update(chunk);
      await asDiskFailure(path, writeAll(handle, chunk));
      received += chunk.length;
    },
    async seal() {
      if (!handle) throw new Error(`${path} is closed`);
      if (received < spec.size) {
        throw refuse("faltered", `it ended after ${received} of ${spec.size} bytes`);
      }
      const sha256 = hash.digest("hex");
      if (sha256 !== spec.sha256) throw refuse("wrong", otherHash(sha256, spec));
      await asDiskFailure(path, handle.sync());
      await asDiskFailure(path, handle.close());
      handle = null;
      sealed = true;
    },
    async close() {
      const open = handle;
      handle = null;
      // A failed close of a file that is removed anyway loses nothing.
      await open?.close().catch(() => {});
      if (!sealed) await rm(path, { force: true });
    },
  };
}

/** The reason for a file whose content is not the expected one. */
export function otherHash(sha256: string, spec: ArtifactSpec): string {
  return `its content is another one: SHA-256 ${sha256} instead of ${spec.sha256}`;
}

const HEAD_BYTES = 512;

function looksLikeHtml(head: Buffer): boolean {
  return /^\s*(<!doctype html|<html|<head|<\?xml[^>]*>\s*<html)/i.test(head.toString("latin1"));
}

async function openPart(path: string): Promise<FileHandle> {
  return asDiskFailure(path, open(path, "wx"));
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    const { bytesWritten } = await handle.write(chunk, at, chunk.length - at);
    at += bytesWritten;
  }
}

async function asDiskFailure<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new SourceFailure("disk", `no space is left to write in ${dirname(path)}`, {
      cause: error,
    });
  }
}
