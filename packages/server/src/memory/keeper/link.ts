import { setTimeout as delay } from "node:timers/promises";
import { type KeeperProcess, startKeeperProcess } from "./keeper-process.js";
import type { FromKeeper } from "./protocol.js";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** A process that lived so long did not die of what it was started with, ms. */
const LONG_LIFE_MS = 60_000;
/** After so many starts in a row that came to nothing no more are tried until somebody asks again. */
const START_TRIES = 3;

/** How long to wait before the next start after a number of short lives in a row, in ms. */
export function pauseMs(shortLives: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, shortLives - 1));
}

/** What the owner of a link is told, and asked. */
export interface LinkOwner {
  /** Whether a process is still of use when one has ended. */
  wanted(): boolean;
  up(process: KeeperProcess): void;
  /** A process that had come up is gone; another follows when it is wanted. */
  down(why: string): void;
  /** No process can be started. */
  failed(why: string): void;
  message(message: FromKeeper): void;
}

/** Holds a keeper process running for as long as one is wanted. */
export class KeeperLink {
  readonly #program: string | null;
  readonly #owner: LinkOwner;
  readonly #closing = new AbortController();
  #current: KeeperProcess | null = null;
  #running: Promise<void> | null = null;

  constructor(program: string | null, owner: LinkOwner) {
    this.#program = program;
    this.#owner = owner;
  }

  /** The process that runs and has reported. */
  get current(): KeeperProcess | null {
    return this.#current;
  }

  /** Starts a process unless one runs or is being started. */
  need(): void {
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Asked for in the very moment in which it was given up.
      if (this.#owner.wanted()) this.need();
    });
  }

  /** Ends the process and resolves when it is gone. May be called again. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#current?.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let shortLives = 0;
    let failedStarts = 0;
    do {
      try {
        this.#current = await startKeeperProcess(
          this.#program,
          (message) => this.#owner.message(message),
          signal,
        );
      } catch (error) {
        if (signal.aborted) return;
        failedStarts++;
        if (failedStarts === START_TRIES) {
          this.#owner.failed((error as Error).message);
          return;
        }
      }
      if (this.#current !== null) {
        if (signal.aborted) return await this.#current.end();
        failedStarts = 0;
        const since = performance.now();
        this.#owner.up(this.#current);
        const why = await this.#current.exited;
        this.#current = null;
        if (signal.aborted) return;
        this.#owner.down(why);
        if (performance.now() - since >= LONG_LIFE_MS) shortLives = 0;
      }
      shortLives++;
      if (!this.#owner.wanted()) return;
      await delay(pauseMs(shortLives), undefined, { signal }).catch(() => {});
    } while (!signal.aborted && this.#owner.wanted());
  }
}
