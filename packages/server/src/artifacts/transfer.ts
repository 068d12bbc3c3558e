import type { OnProgress } from "../observe/index.js";

/** Tells how far a transfer is, with its smoothed rate and the time it still takes. */
export interface Transfer {
  /** Bytes that are here by now, of all; a smaller number than before is not shown. */
  reached(done: number): void;
}

const REPORT_EVERY_MS = 200;
/** Time constant of the exponential mean: a rate that is this old weighs 1/e. */
const MEAN_MS = 3_000;

/** A transfer of `total` bytes; reports at most five times a second, and at its start and end. */
export function startTransfer(
  step: string,
  total: number,
  on: OnProgress,
  now: () => number = () => performance.now(),
): Transfer {
  let shown = 0;
  let shownAt = now();
  let rate: number | null = null;
  on({ step, done: 0, total, unit: "bytes" });

  return {
    reached(done) {
      const at = now();
      const elapsed = at - shownAt;
      const finished = done >= total && shown < total;
      if (done < shown || (elapsed < REPORT_EVERY_MS && !finished)) return;
      if (elapsed > 0) {
        const latest = ((done - shown) / elapsed) * 1_000;
        rate = rate === null ? latest : rate + (1 - Math.exp(-elapsed / MEAN_MS)) * (latest - rate);
      }
      shown = done;
      shownAt = at;
      on({
        step,
        done,
        total,
        unit: "bytes",
        ...(rate === null ? {} : { rate }),
        ...(rate === null || rate <= 0 ? {} : { etaSecs: Math.ceil((total - done) / rate) }),
      });
    },
  };
}
