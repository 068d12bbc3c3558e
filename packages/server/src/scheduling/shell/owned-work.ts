import type { Logger } from "../../observe/index.js";

/** Work under way that nobody awaits: it has an owner here, and its failure is logged. */
export class OwnedWork {
  readonly #log: Logger;
  readonly #work = new Set<Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes a piece of work; what it gives settles with it, and never fails. */
  own(work: Promise<void>): Promise<void> {
    const owned: Promise<void> = work
      .catch((error) => this.#log.error({ err: error }, "scheduler effect failed"))
      .finally(() => this.#work.delete(owned));
    this.#work.add(owned);
    return owned;
  }

  /** Resolves when all work is over, also that which began meanwhile. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled([...this.#work]);
  }
}
