import { setImmediate } from "node:timers/promises";
import type { Backend } from "./backend.js";
import type { LedgerStatus, Tell } from "./ledger.js";
import type { WriteGroup, WriteReport } from "./writes.js";

/** Rows that are written before others get their turn: well under 5 ms in memory. */
const ROWS_AT_ONCE = 50;

/**
 * A ledger in memory, in this thread: where nothing is to be kept, or no thread can be had. `reason`
 * says why it stands in for a file.
 */
export async function startInside(tell: Tell, reason: string | null): Promise<Backend> {
  // libsql is loaded when it is needed: most verbs of the command line have no store.
  const { Ledger } = await import("./ledger.js");
  const ledger = new Ledger(null, tell);
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  return {
    get status(): LedgerStatus {
      return { ...ledger.status, reason };
    },
    gone: new Promise(() => {}),
    write: (groups) =>
      inOrder(async () => {
        let [written, refused] = [0, 0];
        let why: string | null = null;
        for (const slice of slices(groups)) {
          const report: WriteReport = ledger.write(slice);
          written += report.written;
          refused += report.refused;
          why ??= report.why;
          await setImmediate();
        }
        return { busy: false, written, refused, why };
      }),
    take: (takes) =>
      inOrder(async () => {
        const taken = ledger.take(takes);
        await setImmediate();
        return taken;
      }),
    all: (sql, values) => inOrder(() => ledger.all(sql, values)),
    tend: (now) => inOrder(() => ledger.tend(now)),
    close: () => inOrder(() => ledger.close()),
  };
}

function* slices(groups: readonly WriteGroup[]): Generator<WriteGroup[]> {
  let slice: WriteGroup[] = [];
  let rows = 0;
  for (const group of groups) {
    slice.push(group);
    rows += group.rows;
    if (rows < ROWS_AT_ONCE) continue;
    yield slice;
    slice = [];
    rows = 0;
  }
  if (slice.length > 0) yield slice;
}
