import type { OnProgress } from "../../observe/index.js";
import type { KeptState, KeptStatus } from "./kept.js";
import type { FileIdentity, Measured } from "./protocol.js";

/** Somebody who waits for a file to be kept. */
interface Waiter {
  on: OnProgress | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** The books of one file: who holds it and how far it is. */
export class Entry {
  /** Under which it is opened and looked for. */
  path: string;
  identity: FileIdentity;
  sha256: string | null = null;
  /** A fresh one is not brought in yet. */
  state: KeptState = "lost";
  /** What the messages call it; another one each time it is brought in. */
  id = 0;
  /** Whether the process that runs now was told to bring it in. */
  ordered = false;
  doneBytes = 0;
  /** How often the process died in a row while this was brought in. */
  deaths = 0;
  measured: Measured | null = null;
  /** Why it is lost, a sentence. */
  lost: string | null = null;
  /** How often it is kept under each path. */
  readonly holders = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();

  constructor(path: string, identity: FileIdentity) {
    this.path = path;
    this.identity = identity;
  }

  /** Nobody holds it or waits for it. */
  get unused(): boolean {
    return this.holders.size === 0 && this.#waiters.size === 0;
  }

  /** What is still to be brought in, in bytes. */
  get pendingBytes(): number {
    const coming = this.state === "keeping" || this.state === "restoring";
    return coming ? this.identity.bytes - this.doneBytes : 0;
  }

  /** Counts holders under a path. */
  hold(path: string, by: number): void {
    const count = (this.holders.get(path) ?? 0) + by;
    if (count > 0) this.holders.set(path, count);
    else this.holders.delete(path);
  }

  /**
   * Resolves when it is kept, with one holder more under the path.
   * @param onLeave called when the signal ended the wait
   */
  wait(
    path: string,
    on: OnProgress | undefined,
    signal: AbortSignal,
    onLeave: () => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        signal.removeEventListener("abort", onAbort);
        this.#waiters.delete(waiter);
      };
      const onAbort = () => {
        waiter.reject(signal.reason);
        onLeave();
      };
      const waiter: Waiter = {
        on,
        resolve: () => {
          done();
          this.hold(path, 1);
          resolve();
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Tells those who wait how far it is. */
  progress(file: string, done: number): void {
    this.doneBytes = done;
    const total = this.identity.bytes;
    for (const { on } of this.#waiters) {
      on?.({ step: "bringing into memory", file, done, total, unit: "bytes" });
    }
  }

  /** It is kept: those who wait hold it. */
  isKept(measured: Measured): void {
    this.state = "kept";
    this.measured = measured;
    this.lost = null;
    for (const waiter of [...this.#waiters]) waiter.resolve();
  }

  /** Takes what was measured of all files; one that is missing there is not measured. */
  remeasured(files: ReadonlyMap<number, Measured> | null): void {
    if (this.state === "kept") this.measured = files?.get(this.id) ?? null;
  }

  /** It is not kept: those who wait get the error. */
  isLost(why: string, error: Error): void {
    this.state = "lost";
    this.ordered = false;
    this.measured = null;
    this.lost = why;
    for (const waiter of [...this.#waiters]) waiter.reject(error);
  }

  status(): KeptStatus {
    const { path, identity, state, measured } = this;
    return {
      path,
      bytes: identity.bytes,
      state,
      holders: [...this.holders.values()].reduce((sum, count) => sum + count, 0),
      residentBytes: measured?.residentBytes ?? null,
      lockedBytes: measured?.lockedBytes ?? null,
      reason: this.lost ?? measured?.unlockedBecause ?? null,
    };
  }
}
