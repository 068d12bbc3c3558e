import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { errorCode } from "./failure.js";

const Receipt = Type.Object({
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  size: Type.Integer({ minimum: 0 }),
  mtimeMs: Type.Number(),
  /** Decimal text: an inode number may need 64 bits. */
  inode: Type.String(),
  source: Type.String(),
  /** RFC 3339. */
  verified_at: Type.String(),
});

/** What was known about a file when it was last hashed; stands beside it as `.<file>.receipt.json`. */
export type Receipt = Type.Static<typeof Receipt>;

/** What tells one state of a file from another without reading it. */
interface Identity {
  size: number;
  mtimeMs: number;
  inode: string;
}

/** The receipt's place. */
export function receiptPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.receipt.json`);
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

/** The receipt beside the file; null when there is none or it cannot be read as one. */
export async function readReceipt(file: string): Promise<Receipt | null> {
  try {
    const content: unknown = JSON.parse(await readFile(receiptPath(file), "utf8"));
    return Value.Check(Receipt, content) ? content : null;
  } catch (error) {
    if (error instanceof SyntaxError || ["ENOENT", "ENOTDIR"].includes(errorCode(error))) {
      return null;
    }
    throw error;
  }
}

/** Whether the receipt was written for exactly this state of the file. */
export function covers(receipt: Receipt, identity: Identity): boolean {
  return (
    receipt.size === identity.size &&
    receipt.mtimeMs === identity.mtimeMs &&
    receipt.inode === identity.inode
  );
}

/** Writes the receipt of a file that was just hashed, replacing an older one in one step. */
export async function writeReceipt(file: string, sha256: string, source: string): Promise<void> {
  const identity = await identityOf(file);
  if (!identity) throw new Error(`${file} is gone`);
  const receipt: Receipt = {
    sha256,
    ...identity,
    source,
    verified_at: new Date().toISOString(),
  };
  const target = receiptPath(file);
  const draft = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(draft, `${JSON.stringify(receipt, null, 2)}\n`, { flag: "wx" });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
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
