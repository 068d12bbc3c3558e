import { resolve } from "node:path";
import { errorText } from "../files/index.js";
import type { Logger } from "../observe/index.js";
import type { Artifact, ArtifactSpec } from "./artifact.js";
import {
  covers,
  type Finding,
  FOUND,
  hashFile,
  type Identity,
  identityOf,
  type Receipt,
  readReceipt,
  receiptPath,
  writeReceipt,
} from "./receipt.js";

/** How a look at a file may be stopped and watched. */
export interface Look {
  signal?: AbortSignal;
  /** Hears the bytes read so far, of all; only called when the file is read. */
  reading?: (bytes: number, all: number) => void;
  /** Folder for the receipt of a file that lies in somebody else's folder; beside the file when absent. */
  receiptsIn?: string;
}

/** The files that stand in their places, with their receipts. */
export interface Shelf {
  /** The file if it is the right one, else null. Reads it only when its receipt does not fit it. */
  find(spec: ArtifactSpec, dir: string, look?: Look): Promise<Artifact | null>;
  /** Writes a receipt; that it cannot be written is logged only: the file is then hashed again at the next look. */
  note(path: string, identity: Identity, finding: Finding, receiptsIn?: string): Promise<void>;
  /** The receipt of a file; null without one. That one cannot be read is logged, and it counts as none. */
  receiptOf(path: string, receiptsIn?: string): Promise<Receipt | null>;
}

/** The files as they are on disk. */
export function createShelf(log: Logger): Shelf {
  async function note(
    path: string,
    identity: Identity,
    finding: Finding,
    receiptsIn?: string,
  ): Promise<void> {
    await writeReceipt(path, identity, finding, receiptsIn).catch((error: unknown) => {
      log.warn({ path, reason: errorText(error) }, "the receipt of a file cannot be written");
    });
  }

  async function receiptOf(path: string, receiptsIn?: string): Promise<Receipt | null> {
    const receipt = receiptPath(path, receiptsIn);
    return readReceipt(receipt, (reason) =>
      log.warn({ path, receipt, reason }, "the receipt of a file cannot be read"),
    );
  }

  /** The receipt of the file's present state, written now unless it is there; right or wrong content alike. */
  async function lookAt(
    path: string,
    identity: Identity,
    wanted: string | null,
    look: Look,
  ): Promise<Finding> {
    const receipt = await receiptOf(path, look.receiptsIn);
    if (receipt && covers(receipt, identity)) return receipt;
    const sha256 = await hashFile(path, look.signal, (bytes) =>
      look.reading?.(bytes, identity.size),
    );
    const source = receipt?.sha256 === sha256 ? receipt.source : FOUND;
    const found = wanted === null ? { sha256, by: "first download" as const, source } : undefined;
    const pinned = receipt?.pinned ? { source: receipt.source, ...receipt.pinned } : found;
    const finding = { sha256, source, pinned, brought: receipt?.brought };
    await note(path, identity, finding, look.receiptsIn);
    return finding;
  }

  return {
    note,
    receiptOf,
    async find(spec, dir, look = {}) {
      const path = resolve(dir, spec.file);
      const identity = await identityOf(path);
      if (!identity || (spec.size !== null && identity.size !== spec.size)) return null;
      const { sha256, source, pinned } = await lookAt(path, identity, spec.sha256, look);
      if (sha256 !== (spec.sha256 ?? pinned?.sha256 ?? sha256)) return null;
      const pinnedBy = spec.sha256 === null ? (pinned?.by ?? "first download") : "spec";
      return { path, size: identity.size, sha256, pinnedBy, source, cached: true };
    },
  };
}
