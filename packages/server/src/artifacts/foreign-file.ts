import { lstat, stat } from "node:fs/promises";
import { errorCode } from "../files/index.js";
import { SomnusError } from "../http/errors.js";
import type { ArtifactSpec } from "./artifact.js";
import {
  covers,
  FOUND,
  hashFile,
  identityOf,
  type Receipt,
  readReceipt,
  receiptPath,
} from "./receipt.js";

/**
 * What stays the same of a file through changes of its content and moves within its file system, and is never that
 * of another file: inode numbers are given again, so the time it was made is part of it.
 */
export async function birthOf(path: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(path, { bigint: true });
  return `${ino}:${birthtimeNs}`;
}

/**
 * Whether the file at `path` was brought or made here, as its receipt says, however damaged it is by now. Nothing of
 * the file is read.
 */
export async function broughtHere(path: string): Promise<boolean> {
  const receipt = await readReceipt(receiptPath(path));
  if (receipt === null) return false;
  const { source, brought, pinned } = receipt;
  if (source !== FOUND) return true;
  // Of a file that was found the receipt still knows what once was brought under its name.
  if (brought !== undefined) return brought === (await birthOf(path).catch(() => null));
  // One that was made has no birth noted.
  return pinned !== undefined && pinned.by !== "first download";
}

/**
 * Throws `model_unavailable` when something stands at `path` that was not brought here: it is somebody's, and not
 * ours to replace. A file that was brought and is damaged or outdated by now may go, and so may nothing at all.
 */
export async function requireReplaceable(
  path: string,
  spec: ArtifactSpec,
  receipt: Receipt | null,
  signal: AbortSignal,
): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  if (found === null) return;
  const identity = await identityOf(path);
  if (identity === null) {
    // A link of ours into a cache that was emptied since.
    if (found.isSymbolicLink() && receipt?.brought !== undefined) return;
    throw inTheWay(path, "it is not a regular file");
  }
  if (receipt?.brought !== undefined) {
    if (receipt.brought === (await birthOf(path))) return;
    // The folder may have been copied from elsewhere: the content is what was brought.
    if (receipt.source !== FOUND && receipt.size === identity.size) {
      if (covers(receipt, identity) || (await hashFile(path, signal)) === receipt.sha256) return;
    }
  }
  throw inTheWay(path, await differenceOf(path, identity.size, spec, signal));
}

async function differenceOf(
  path: string,
  size: number,
  spec: ArtifactSpec,
  signal: AbortSignal,
): Promise<string> {
  if (spec.size !== null && spec.size !== size) return `it has ${size} bytes, not ${spec.size}`;
  const sha256 = await hashFile(path, signal);
  return `it has SHA-256 ${sha256}, not ${spec.sha256 ?? "the one of the first download"}`;
}

function inTheWay(path: string, difference: string): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `${path} is not the wanted file (${difference}), and Somnus did not put it there, so it is not replaced. Move it elsewhere, or delete it if nobody needs it, and try again.`,
  );
}
