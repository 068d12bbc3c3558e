import type { OnProgress } from "../observe/index.js";

/** Tells how far a transfer is, with its smoothed rate and the time it still takes. */
export interface Transfer {
  /** Bytes that are here by now, of all; a smaller number than before is not shown. */
  reached(done: number): void;
  /** The transfer goes on from here: these bytes took no time, and fewer than before are shown. */
  resumed(done: number): void;
  /** All there is, once it is known. */
  expect(total: number): void;
  /** Says what is waited for instead of the usual step; null for the usual one again. */
  note(step: string | null): void;
}

const REPORT_EVERY_MS = 200;
/** Time constant of the exponential mean: a rate that is this old weighs 1/e. */
const MEAN_MS = 3_000;

/** What a transfer is about. */
export interface Transferred {
  step: string;
  file: string;
  /** Bytes in all; null while nobody knows. */
  total: number | null;
}

/** Reports at most five times a second, and at its start and end. */
export function startTransfer(
  { step, file, total: known }: Transferred,
  on: OnProgress,
  now: () => number = () => performance.now(),
): Transfer {
  let total = known;
  let shown = 0;
  let shownAt = now();
  let rate: number | null = null;
  let noted: string | null = null;
  let resumedFrom = 0;
  const show = () =>
    on({
      step: noted ?? step,
      file,
      done: shown,
      ...(total === null ? {} : { total }),
      unit: "bytes",
      ...(resumedFrom === 0 ? {} : { resumedFrom }),
      ...(rate === null ? {} : { rate }),
      ...(rate === null || rate <= 0 || total === null
        ? {}
        : { etaSecs: Math.ceil(Math.max(0, total - shown) / rate) }),
    });
  show();

  return {
    reached(done) {
      const at = now();
      const elapsed = at - shownAt;
      const finished = total !== null && done >= total && shown < total;
      if (done < shown || (elapsed < REPORT_EVERY_MS && !finished)) return;
      if (elapsed > 0) {
        const latest = ((done - shown) / elapsed) * 1_000;
        rate = rate === null ? latest : rate + (1 - Math.exp(-elapsed / MEAN_MS)) * (latest - rate);
      }
      shown = done;
      shownAt = at;
      show();
    },
    resumed(done) {
      if (done === shown) return;
      resumedFrom = done;
      shown = done;
      shownAt = now();
      rate = null;
      show();
    },
    expect(bytes) {
      total = bytes;
    },
    note(text) {
      noted = text;
      show();
    },
  };
}
