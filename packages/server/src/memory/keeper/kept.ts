import type { FileFault, Means } from "./protocol.js";

/** Where a kept file stands. `restoring`: the keeper process died and the file is brought in again. */
export type KeptState = "keeping" | "kept" | "restoring" | "lost";

/** What became of a file that is no longer kept: its own fault, or that of the keeper process or the machine. */
export type LossReason = FileFault | "no_room" | "keeper_failed";

/** One kept file, as measured now. Bytes; null: not measured, or this system does not tell. */
export interface KeptStatus {
  /** The path under which it was kept first. */
  path: string;
  bytes: number;
  state: KeptState;
  /** How often it is kept: so many releases are due. */
  holders: number;
  /** In memory now. */
  residentBytes: number | null;
  /** In memory and locked there. */
  lockedBytes: number | null;
  /** Why it is not kept, or not locked as a whole: a sentence. Null when all is well. */
  reason: string | null;
}

/** A file that was brought in. */
export interface Kept extends KeptStatus {
  state: "kept";
  /** What it took to bring it in, in ms; 0 when it was kept already. */
  tookMs: number;
}

/** What the owner of a keeper is told without asking. */
export type KeeperEvent =
  /** The keeper process is gone, and with it what it held; it is started again. */
  | { type: "died"; why: string }
  /** A file is kept again after that. */
  | { type: "restored"; path: string }
  /** A file is no longer kept; one for each path under which it is held. Its holders still release it, or keep it anew. */
  | { type: "lost"; path: string; reason: LossReason; message: string };

/** The keeper process. */
export interface KeeperSummary {
  /** Null while none runs: nothing was kept yet, or it is being started. */
  pid: number | null;
  /** Null until the first one reported. */
  means: Means | null;
  /** Why pages are not mapped and locked on this machine; null when they are. */
  meansBecause: string | null;
  /** How often a process died and was followed by another. */
  deaths: number;
  budgetBytes: number;
  /** Of files that are kept, are being brought in or being given back. */
  takenBytes: number;
}
