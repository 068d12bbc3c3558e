/** Lets so many pieces of work run at once; the others wait in the order in which they came. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count pieces that may run at once, one or more */
  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Runs a piece of work when there is a place for it.
   * @throws what the work throws; the signal's reason when that fires while it waits
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(signal.reason);
      };
      const take = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(take);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
