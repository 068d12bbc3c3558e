/**
 * Tells that the engine has been silent for too long. It runs only while somebody waits for the
 * engine: a slow reader is not a silent engine.
 */
export class StallClock {
  readonly #timer: NodeJS.Timeout;
  #waiting = false;

  /** @param ms silence allowed */
  constructor(ms: number, onStall: () => void) {
    this.#timer = setTimeout(() => {
      if (this.#waiting) onStall();
    }, ms);
  }

  /** Somebody begins to wait for the engine. */
  wait(): void {
    this.#waiting = true;
    this.#timer.refresh();
  }

  /** The engine gave something. */
  rest(): void {
    this.#waiting = false;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
