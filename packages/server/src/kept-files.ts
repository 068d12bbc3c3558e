import { createKeeper, hostMemoryNow, type Keeper, type KeptStatus } from "./memory/index.js";
import type { Logger } from "./observe/index.js";

/** How long a measurement of kept files is shown, ms: it takes about 10 ms a GB. */
const SHOWN_MS = 2_000;

/** Tier 2 of this server: its keeper, and what was measured of the kept files last. */
export class KeptFiles {
  readonly keeper: Keeper;
  #measured: Promise<readonly KeptStatus[]> = Promise.resolve([]);
  #measuredAt = Number.NEGATIVE_INFINITY;

  /**
   * How much may be kept is the scheduler's to decide; the keeper looks only at the room that there really is.
   * `onLost`: a file is kept no longer; must not throw. `program`: see `KeeperOptions`.
   */
  constructor(options: {
    log: Logger;
    program?: string;
    onLost: (path: string, message: string) => void;
  }) {
    const { log, program, onLost } = options;
    this.keeper = createKeeper({
      budgetBytes: Number.MAX_SAFE_INTEGER,
      log,
      host: hostMemoryNow,
      on: (event) => {
        this.forget();
        if (event.type === "lost") onLost(event.path, event.message);
      },
      ...(program === undefined ? {} : { program }),
    });
  }

  /** The kept files, as measured within the last seconds. */
  status(): Promise<readonly KeptStatus[]> {
    const at = performance.now();
    if (at - this.#measuredAt >= SHOWN_MS) {
      this.#measuredAt = at;
      this.#measured = this.keeper.status();
    }
    return this.#measured;
  }

  /** What was measured is out of date. */
  forget(): void {
    this.#measuredAt = Number.NEGATIVE_INFINITY;
  }

  /** Gives everything back and ends the keeper's process. */
  close(): Promise<void> {
    return this.keeper.close();
  }
}
