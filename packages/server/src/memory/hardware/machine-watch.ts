import type { Machine } from "../machine.js";
import type { MachineReader } from "./read-machine.js";

/** The machine as it is now, read behind the scenes. Many askers share one reading. */
export interface MachineWatch {
  /** The newest reading at once; null before the first. One that is too old is renewed meanwhile. */
  latest(): Machine | null;
  /** A reading that is not too old; waits only when there is none. */
  current(signal?: AbortSignal): Promise<Machine>;
  /** A reading that was begun after this call: for "what is free, now that it is gone?". */
  fresh(signal?: AbortSignal): Promise<Machine>;
  /** Ends a reading under way and waits for its end. Later readings are refused. */
  close(): Promise<void>;
}

export interface MachineWatchOptions {
  read: MachineReader;
  /** How old a reading may be before `latest` and `current` renew it, ms. */
  maxAgeMs?: number;
  /** Hears of a reading that failed while nobody waited for it. */
  onFailure?: (error: unknown) => void;
  /** Milliseconds that only grow. */
  now?: () => number;
}

const MAX_AGE_MS = 3_000;

/** Keeps the machine's readings: at most one at a time, and one for all who ask meanwhile. */
export function createMachineWatch(options: MachineWatchOptions): MachineWatch {
  const { read, maxAgeMs = MAX_AGE_MS, onFailure, now = () => performance.now() } = options;
  const closing = new AbortController();
  let newest: { machine: Machine; at: number } | null = null;
  let running: Promise<Machine> | null = null;
  let next: Promise<Machine> | null = null;

  const start = (): Promise<Machine> => {
    const begun = now();
    const reading = (async () => {
      closing.signal.throwIfAborted();
      const machine = await read(closing.signal);
      newest = { machine, at: begun };
      return machine;
    })().finally(() => {
      if (running === reading) running = null;
    });
    running = reading;
    reading.catch(() => undefined);
    return reading;
  };
  const startNext = (before: Promise<Machine>): Promise<Machine> => {
    next ??= before
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    next.catch(() => undefined);
    return next;
  };
  const isTooOld = () => newest === null || now() - newest.at > maxAgeMs;

  return {
    latest() {
      if (isTooOld() && running === null && next === null && !closing.signal.aborted) {
        start().catch((error) => {
          if (!closing.signal.aborted) onFailure?.(error);
        });
      }
      return newest?.machine ?? null;
    },
    async current(signal) {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      if (newest !== null && !isTooOld()) return newest.machine;
      return unlessAborted(running ?? next ?? start(), signal);
    },
    async fresh(signal) {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      return unlessAborted(running === null ? (next ?? start()) : startNext(running), signal);
    },
    async close() {
      closing.abort(new Error("The machine is not watched any more."));
      await Promise.allSettled([running, next]);
    },
  };
}

/** The reading goes on for the others when one who waits has left. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
