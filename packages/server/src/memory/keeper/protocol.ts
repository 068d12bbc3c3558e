/** Raised with every change of the messages below: server and keeper process must speak the same. */
export const PROTOCOL_VERSION = 1;

/** Tells one content of one file: another file under the same path, or a changed one, differs. */
export interface FileIdentity {
  device: bigint;
  inode: bigint;
  bytes: number;
  modifiedNs: bigint;
}

/**
 * What became of a file: `missing`: removed or replaced under its path; `changed`: other length or
 * modification time than it had; `unreadable`: the disk, the rights or the kind of file; `mismatch`: another SHA-256.
 */
export type FileFault = "missing" | "changed" | "unreadable" | "mismatch";

/** How the keeper holds pages: mapped and locked, or only read once so that the system caches them. */
export type Means = "mapped" | "read";

/** What the system says about one kept file. Bytes; null: this system does not tell. */
export interface Measured {
  /** In memory now. */
  residentBytes: number | null;
  /** In memory and locked there by the keeper: the system does not take them away. */
  lockedBytes: number | null;
  /** Why not all of the file is locked, a sentence; null when it is. */
  unlockedBecause: string | null;
}

/** What is to be kept: this content of this file, found under a path. */
export interface KeepOrder {
  path: string;
  identity: FileIdentity;
  /** Lower-case hex; null: the content is not checked. */
  sha256: string | null;
}

/** An `id` stands for one keeping of one file. */
export type KeepOrderMessage = KeepOrder & { type: "keep"; id: number };

/** Messages of the server to the keeper process. */
export type ToKeeper =
  | KeepOrderMessage
  /** Also ends a keeping that is under way. */
  | { type: "release"; id: number }
  | { type: "measure"; request: number };

/** Messages of the keeper process to the server. */
export type FromKeeper =
  | { type: "hello"; version: number; means: Means; meansBecause: string | null }
  | { type: "progress"; id: number; done: number }
  | { type: "kept"; id: number; measured: Measured }
  /** The file could not be kept, or no longer can be; nothing of it is held any more. */
  | { type: "lost"; id: number; fault: FileFault; detail: string }
  | { type: "released"; id: number }
  | { type: "measured"; request: number; files: { id: number; measured: Measured }[] };
