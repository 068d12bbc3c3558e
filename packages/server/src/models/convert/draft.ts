import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../files/index.js";
import type { Output } from "./converter.js";

/** A file that is being made under another name beside its place. */
export interface Draft extends Output {
  readonly path: string;
  /** Bytes so far. */
  readonly written: number;
  /** Brings the bytes to the disk and closes the file; gives its SHA-256. */
  seal(): Promise<string>;
  /** Gives the sealed file its name, so that it survives a power cut from here on. */
  publish(): Promise<void>;
  /** Closes and removes what was not published. Never throws. */
  discard(): Promise<void>;
}

/**
 * Creates the draft of the file at `target`; the caller holds its lock.
 * @param reached hears the bytes written so far
 * @throws an fs error when it cannot be created
 */
export async function createDraft(
  target: string,
  signal: AbortSignal,
  reached: (bytes: number) => void,
): Promise<Draft> {
  const path = `${target}.${randomBytes(6).toString("hex")}.draft`;
  const hash = createHash("sha256");
  let handle: FileHandle | null = await open(path, "wx");
  let written = 0;
  let published = false;
  return {
    path,
    get written() {
      return written;
    },
    async write(bytes) {
      signal.throwIfAborted();
      if (!handle) throw new Error(`${path} is closed`);
      hash.update(bytes);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
        at += bytesWritten;
      }
      written += bytes.length;
      reached(written);
    },
    async seal() {
      if (!handle) throw new Error(`${path} is closed`);
      await handle.sync();
      await handle.close();
      handle = null;
      return hash.digest("hex");
    },
    async publish() {
      await rename(path, target);
      published = true;
      await syncFolder(dirname(target));
    },
    async discard() {
      const open = handle;
      handle = null;
      // Neither failure loses anything: the draft is worth nothing, and the next conversion removes it.
      await open?.close().catch(() => {});
      if (!published) await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** Removes the drafts that killed processes left of this file; only under its lock. */
export async function removeDrafts(target: string): Promise<void> {
  const folder = dirname(target);
  const start = `${basename(target)}.`;
  for (const name of await readdir(folder)) {
    const isDraft =
      name.startsWith(start) && /^[0-9a-f]{12}\.draft$/.test(name.slice(start.length));
    if (isDraft) await rm(join(folder, name), { force: true });
  }
}
