import type { FileFault, KeepOrderMessage, Measured } from "../protocol.js";
import { FaultyFile, KeptFile } from "./kept-file.js";
import { countedLockedBytes, type MemoryCalls } from "./memory-calls.js";

/** How often a comparison with the system's own count is tried: a release in between falsifies one. */
const COUNT_TRIES = 3;

/** What the keeper process has to tell about one keeping. */
export interface Teller {
  progress(id: number, done: number): void;
  kept(id: number, measured: Measured): void;
  lost(id: number, fault: FileFault, detail: string): void;
  released(id: number): void;
}

interface Keeping {
  /** Null until it is open. */
  file: KeptFile | null;
  kept: boolean;
  cancel: AbortController;
  /** Settles, never with an error, when the bringing in is over. */
  over: Promise<void>;
}

/** All files that this process keeps. */
export class Keepings {
  readonly #all = new Map<number, Keeping>();
  readonly #calls: MemoryCalls | null;
  readonly #missing: string;
  /** What the user of this process may lock, in bytes. */
  readonly #lockLimit: number;
  readonly #tell: Teller;

  /** @param missing why there are no calls */
  constructor(calls: MemoryCalls | null, missing: string, tell: Teller) {
    this.#calls = calls;
    this.#missing = missing;
    this.#lockLimit = calls?.raiseLockLimit() ?? 0;
    this.#tell = tell;
  }

  /** Brings a file in and holds it, until it is released or lost. */
  keep(order: KeepOrderMessage): void {
    const keeping: Keeping = {
      file: null,
      kept: false,
      cancel: new AbortController(),
      over: Promise.resolve(),
    };
    this.#all.set(order.id, keeping);
    keeping.over = this.#bringIn(order, keeping);
  }

  /** Gives a file's pages back to the system, or stops bringing it in. */
  async release(id: number): Promise<void> {
    const keeping = this.#all.get(id);
    this.#all.delete(id);
    if (keeping !== undefined) {
      keeping.cancel.abort();
      await keeping.over;
      await keeping.file?.close();
    }
    this.#tell.released(id);
    await this.#lockMore();
  }

  /** Compares the files with what they were; those that differ are lost. */
  async check(): Promise<void> {
    for (const [id, { file, kept }] of [...this.#all]) {
      if (!kept || file === null) continue;
      try {
        await file.check();
      } catch (error) {
        if (error instanceof FaultyFile) await this.#lose(id, file, error);
      }
    }
  }

  /** What the system says now about each file that is kept. */
  async measure(): Promise<{ id: number; measured: Measured }[]> {
    await this.check();
    const files: { id: number; measured: Measured }[] = [];
    for (const [id, { file, kept }] of [...this.#all]) {
      if (!kept || file === null) continue;
      try {
        files.push({ id, measured: await this.#measure(file) });
      } catch (error) {
        if (this.#all.has(id)) throw error;
      }
    }
    return files;
  }

  async #bringIn(order: KeepOrderMessage, keeping: Keeping): Promise<void> {
    const { id } = order;
    const { signal } = keeping.cancel;
    try {
      keeping.file = await KeptFile.open(order, this.#calls, this.#missing);
      await keeping.file.bringIn((done) => this.#tell.progress(id, done), signal);
      const measured = await this.#measure(keeping.file);
      signal.throwIfAborted();
      keeping.kept = true;
      this.#tell.kept(id, measured);
    } catch (error) {
      if (!signal.aborted) await this.#lose(id, keeping.file, error);
    }
  }

  async #lose(id: number, file: KeptFile | null, error: unknown): Promise<void> {
    if (!this.#all.delete(id)) return;
    await file?.close();
    const fault = error instanceof FaultyFile ? error.fault : "unreadable";
    this.#tell.lost(id, fault, (error as Error).message);
    await this.#lockMore();
  }

  /** What was given back may let the system lock more of the others. */
  async #lockMore(): Promise<void> {
    for (const { file, kept } of [...this.#all.values()]) {
      // Released meanwhile, or refused again.
      if (kept) await file?.lockMore().catch(() => {});
    }
  }

  async #measure(file: KeptFile): Promise<Measured> {
    const held = await file.measure();
    if (held === null) {
      return { residentBytes: null, lockedBytes: null, unlockedBecause: file.notMapped };
    }
    const residentBytes = held.resident;
    const uncounted = await this.#uncounted();
    if (uncounted !== null) {
      return { residentBytes, lockedBytes: null, unlockedBecause: uncounted };
    }
    const whole = held.locked === file.bytes;
    return {
      residentBytes,
      lockedBytes: held.locked,
      unlockedBecause: whole ? null : this.#unlockedBecause(file),
    };
  }

  /** Null when the system counts as locked what it said it locked: in some sandboxes it only says so. */
  async #uncounted(): Promise<string | null> {
    for (let tries = 1; ; tries++) {
      let said = 0;
      for (const { file } of this.#all.values()) said += file?.lockedUpTo ?? 0;
      const counted = await countedLockedBytes();
      if (counted === null || counted >= said) return null;
      if (tries === COUNT_TRIES) {
        return `The system said that it locked ${said} bytes, but counts ${counted}.`;
      }
    }
  }

  #unlockedBecause({ refused }: KeptFile): string {
    if (refused === null) return "Some of it is no longer in memory.";
    const ofUser = refused === "ENOMEM" || refused === "EPERM";
    const reason =
      ofUser && Number.isFinite(this.#lockLimit)
        ? `The system lets this user lock ${this.#lockLimit} bytes (ulimit -l)`
        : `The system refused to lock more (${refused})`;
    return `${reason}; the rest was read into memory, but is not locked.`;
  }
}
