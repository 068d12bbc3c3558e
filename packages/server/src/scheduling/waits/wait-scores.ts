/** Waits that are remembered to tell how good the estimates are. */
const KEPT = 128;
/** Shorter waits, expected or real, tell nothing: they are a matter of the clock. */
const LEAST_MS = 10;

/** How far estimates of a wait were from the wait itself: the last ones of a model. */
export interface WaitScores {
  /** Distances in ms, and as a share of the real wait; both rings are written at `next`. */
  errorMs: number[];
  errorShare: number[];
  next: number;
  /** Waits that were compared since the start. */
  count: number;
}

/** Before anything was compared. */
export function noScores(): WaitScores {
  return { errorMs: [], errorShare: [], next: 0, count: 0 };
}

/** Notes what was expected of a wait and what it was, in ms. */
export function score(scores: WaitScores, expectedMs: number, realMs: number): void {
  if (expectedMs < LEAST_MS && realMs < LEAST_MS) return;
  const error = Math.abs(expectedMs - realMs);
  scores.errorMs[scores.next] = error;
  scores.errorShare[scores.next] = error / Math.max(LEAST_MS, realMs);
  scores.next = (scores.next + 1) % KEPT;
  scores.count++;
}

/** How good a model's estimates are, over the last waits. */
export interface WaitAccuracy {
  /** Waits that were compared since the start. */
  count: number;
  medianErrorMs: number;
  p90ErrorMs: number;
  /** The error as a share of the wait: 0.25 is a quarter. */
  medianErrorShare: number;
  p90ErrorShare: number;
}

/** What the scores say; null before the first. */
export function accuracyOf(scores: WaitScores): WaitAccuracy | null {
  if (scores.count === 0) return null;
  const ms = scores.errorMs.toSorted((a, b) => a - b);
  const share = scores.errorShare.toSorted((a, b) => a - b);
  return {
    count: scores.count,
    medianErrorMs: quantile(ms, 0.5),
    p90ErrorMs: quantile(ms, 0.9),
    medianErrorShare: quantile(share, 0.5),
    p90ErrorShare: quantile(share, 0.9),
  };
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}
