import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { errorCode, readJson, replaceJson } from "../files/index.js";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** The source of a file that nobody here brought. */
export const FOUND = "found on disk";

const Receipt = Type.Object({
  /** Of the content that was found, right or wrong. */
  sha256: Sha256,
  size: Type.Integer({ minimum: 0 }),
  mtimeMs: Type.Number(),
  /** Decimal text: an inode number may need 64 bits. */
  inode: Type.String(),
  source: Type.String(),
  /** Absolute path of the file; only in receipts that do not stand beside it. */
  file: Type.Optional(Type.String()),
  /** RFC 3339. */
  verified_at: Type.String(),
  /** What the content must be for whoever knows no better; absent in receipts of files that a catalog pins. */
  pinned: Type.Optional(
    Type.Object({
      sha256: Sha256,
      by: Type.Union([
        Type.Literal("spec"),
        Type.Literal("source"),
        Type.Literal("first download"),
      ]),
      /** Where that download came from. */
      source: Type.Optional(Type.String()),
    }),
  ),
  /** Which file on disk it was that we brought, see `birthOf`; absent when we brought none. */
  brought: Type.Optional(Type.String()),
});

/**
 * What was known about a file when it was last hashed; stands beside it as `.<file>.receipt.json`, or in a folder of
 * ours when the file lies in somebody else's.
 */
export type Receipt = Type.Static<typeof Receipt>;

/** What tells one state of a file from another without reading it. */
export interface Identity {
  size: number;
  mtimeMs: number;
  inode: string;
}

/** The receipt's place: beside the file, or in `folder` under a name made of the file's absolute path. */
export function receiptPath(file: string, folder: string | null = null): string {
  if (folder === null) return join(dirname(file), `.${basename(file)}.receipt.json`);
  return join(folder, `${createHash("sha256").update(resolve(file)).digest("hex")}.json`);
}

/** The identity of a regular file; null where there is none. */
export async function identityOf(file: string): Promise<Identity | null> {
  try {
    const found = await stat(file, { bigint: true });
    if (!found.isFile()) return null;
    return {
      size: Number(found.size),
      mtimeMs: Number(found.mtimeNs) / 1e6,
      inode: String(found.ino),
    };
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    throw error;
  }
}

/** The receipt in this place; null when there is none or it cannot be read as one, for a reason that `refused` hears. */
export async function readReceipt(
  path: string,
  refused?: (reason: string) => void,
): Promise<Receipt | null> {
  const content = await readJson(path, refused);
  return Value.Check(Receipt, content) ? content : null;
}

/** Whether the receipt was written for exactly this state of the file. */
export function covers(receipt: Receipt, identity: Identity): boolean {
  return (
    receipt.size === identity.size &&
    receipt.mtimeMs === identity.mtimeMs &&
    receipt.inode === identity.inode
  );
}

/** What a receipt says besides the file's identity. */
export interface Finding {
  sha256: string;
  source: string;
  pinned?: Receipt["pinned"] | undefined;
  /** See `Receipt`. */
  brought?: string | undefined;
}

/**
 * Writes the receipt of a file in the state that was just hashed, replacing an older one in one step. A file that
 * still waits under another name keeps its identity when it gets its own. `folder` is where it goes when not beside
 * the file; receipts there of files that are gone go too.
 */
export async function writeReceipt(
  file: string,
  identity: Identity,
  { sha256, source, pinned, brought }: Finding,
  folder: string | null = null,
): Promise<void> {
  const receipt: Receipt = {
    sha256,
    ...identity,
    source,
    ...(folder === null ? {} : { file: resolve(file) }),
    verified_at: new Date().toISOString(),
    ...(pinned ? { pinned } : {}),
    ...(brought === undefined ? {} : { brought }),
  };
  if (folder !== null) {
    await mkdir(folder, { recursive: true });
    await removeOrphans(folder);
  }
  await replaceJson(receiptPath(file, folder), receipt);
}

/** Whoever deletes a file elsewhere leaves our receipt of it. */
async function removeOrphans(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const receipt = name.endsWith(".json") ? await readReceipt(path).catch(() => null) : null;
    if (receipt?.file === undefined) continue;
    // A file that cannot be looked at now is not one that is gone.
    const isGone = (await identityOf(receipt.file).catch(() => undefined)) === null;
    if (isGone) await rm(path, { force: true });
  }
}

/** SHA-256 of a whole file, lower-case hex; `reached` hears the bytes read so far. */
export async function hashFile(
  file: string,
  signal?: AbortSignal,
  reached?: (bytes: number) => void,
): Promise<string> {
  const hash = createHash("sha256");
  let read = 0;
  const stream = createReadStream(file, {
    highWaterMark: 1 << 20,
    ...(signal ? { signal } : {}),
  });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    read += chunk.length;
    reached?.(read);
  }
  return hash.digest("hex");
}
