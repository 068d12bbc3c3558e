import { setTimeout as sleep } from "node:timers/promises";
import { SomnusError } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { Listeners } from "./listen.js";

/** How long answers have to end in order after the drain time, milliseconds. */
const GRACE_MS = 1_000;
/** And then how long the last words have to reach their clients. */
const FAREWELL_MS = 500;

/** The exchanges of a door that have not ended. */
export class Running {
  readonly #exchanges = new Set<Exchange>();
  #whenEmpty: (() => void)[] = [];

  get size(): number {
    return this.#exchanges.size;
  }

  add(exchange: Exchange): void {
    this.#exchanges.add(exchange);
  }

  delete(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange) || this.#exchanges.size > 0) return;
    const waiting = this.#whenEmpty;
    this.#whenEmpty = [];
    for (const resolve of waiting) resolve();
  }

  [Symbol.iterator](): IterableIterator<Exchange> {
    return this.#exchanges.values();
  }

  /** Resolves when none is left, or after `ms`. */
  async ended(ms: number): Promise<void> {
    if (this.#exchanges.size === 0) return;
    const timer = new AbortController();
    const empty = new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
    await Promise.race([empty, sleep(ms, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }
}

/**
 * Ends a door's work: what runs may go on for `drainMs`; then its signals fire, answers end with
 * what they have to say about it, and whatever is left is cut off. Resolves within two seconds
 * after the drain time, whatever the clients and handlers do.
 * @param refuse answers an exchange whose handler has not
 */
export async function drain(
  running: Running,
  listeners: Listeners | null,
  drainMs: number,
  refuse: (exchange: Exchange, error: SomnusError) => void,
): Promise<void> {
  listeners?.closeIdle();
  await running.ended(drainMs);

  const stopped = listeners?.stop();
  listeners?.closeIdle();
  const reason = new SomnusError("shutting_down", "The server is shutting down.");
  for (const exchange of [...running]) exchange.abort(reason);
  await running.ended(GRACE_MS);
  for (const exchange of [...running]) if (!exchange.answered) refuse(exchange, reason);
  await running.ended(FAREWELL_MS);
  listeners?.destroy();
  await stopped;
}
