import { getHeapSpaceStatistics } from "node:v8";
import type { Logger } from "./observe/index.js";

/** Idle for so long, a server gives back what its start and its requests have left in the heap, ms. */
const IDLE_MS = 2_000;
/** Room for young objects that is worth giving back; V8 lets it grow to 32 MiB and takes none back by itself. */
const WORTH_BYTES = 8 * 2 ** 20;

/**
 * Gives the heap's free memory back to the system while nothing is asked of the server: the pause, a
 * twentieth to a tenth of a second, hurts nobody then.
 */
export class IdleHeap {
  readonly #isIdle: () => boolean;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #wasIdle = false;

  /** `isIdle` is asked every two seconds and must cost nothing. */
  constructor(options: { isIdle: () => boolean; log: Logger }) {
    this.#isIdle = options.isIdle;
    this.#log = options.log;
    this.#timer = setInterval(() => this.#look(), IDLE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const isIdle = this.#isIdle();
    const wasIdle = this.#wasIdle;
    this.#wasIdle = isIdle;
    if (!isIdle || !wasIdle || youngBytes() < WORTH_BYTES) return;
    giveHeapBack().catch((error) => {
      this.#log.debug({ err: error }, "the heap's free memory cannot be given back");
      this.close();
    });
  }
}

/** Physical memory that V8 holds for young objects. */
export function youngBytes(): number {
  return (
    getHeapSpaceStatistics().find((space) => space.space_name === "new_space")
      ?.physical_space_size ?? 0
  );
}

/**
 * Collects what is not used and gives the pages back, as the inspector's `HeapProfiler.collectGarbage`
 * does; the process waits for it.
 * @throws Error in a Node.js without its inspector
 */
export async function giveHeapBack(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}
