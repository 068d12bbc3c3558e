import { now } from "./clock.js";

/** Node's timers take no more, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** Rings once at a time of the scheduler's clock; it keeps no process alive. */
export class Timer {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | null = null;

  /** `ring`: also called too early, where the time is further than a timer takes; it is set again then. Must not throw. */
  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Replaces the time set before; null takes it away. */
  set(at: number | null): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (at === null) return;
    const wait = Math.min(Math.max(0, Math.ceil(at - now())), LONGEST_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#ring();
    }, wait);
    this.#timer.unref();
  }
}
