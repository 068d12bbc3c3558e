const MINUTE = 60_000;
/** Time after which a request counts for 1/e of a new one, in ms: the first contract's "about 10 minutes". */
export const RATE_DECAY_MS = 10 * MINUTE;
/** The same for the habit that eviction weighs: a working day. */
const HABIT_DECAY_MS = 480 * MINUTE;
/** A model is taken to be known for this long when it is asked for the first time. */
const HABIT_HEAD_START_MS = 10 * MINUTE;
/** An idle time of so many usual gaps halves what is expected. */
const GAPS_TO_DOUBT = 3;

/** How a model is used: all that has to be kept of its arrivals. Times in ms of one clock. */
export interface Use {
  firstAt: number;
  lastAt: number;
  /** Requests, each weighed by its age at `lastAt`: over ten minutes, and over a working day. */
  recent: number;
  lasting: number;
}

/** A model's use after one more request, at a time not before the last one; `use` is null for the first. */
export function withRequest(use: Use | null, at: number): Use {
  if (use === null) return { firstAt: at, lastAt: at, recent: 1, lasting: 1 };
  const age = at - use.lastAt;
  return {
    firstAt: use.firstAt,
    lastAt: at,
    recent: use.recent * decay(age, RATE_DECAY_MS) + 1,
    lasting: use.lasting * decay(age, HABIT_DECAY_MS) + 1,
  };
}

/** Requests a minute at a time, decayed over ten minutes: what the status shows. */
export function requestsPerMinute(use: Use | null, now: number): number {
  if (use === null) return 0;
  return (use.recent * decay(now - use.lastAt, RATE_DECAY_MS) * MINUTE) / RATE_DECAY_MS;
}

/** The same from the arrival times themselves (ms, any order); those after `now` do not count. */
export function rateOf(history: readonly number[], now: number): number {
  let weight = 0;
  for (const at of history) if (at <= now) weight += decay(now - at, RATE_DECAY_MS);
  return (weight * MINUTE) / RATE_DECAY_MS;
}

/**
 * Requests a minute to be expected from now on: what eviction weighs. Ten minutes are too short to tell
 * models apart that are asked for a few times an hour, and a long memory alone holds on to what is no
 * longer used; so the usual gap between requests is told from a working day, and idle time adds to it.
 */
export function expectedPerMinute(use: Use | null, now: number): number {
  if (use === null) return 0;
  const idle = Math.max(0, now - use.lastAt);
  // The time that the weights stand for: what is known of the model, decayed like they are.
  const known = Math.max(0, now - use.firstAt) + HABIT_HEAD_START_MS;
  const span = HABIT_DECAY_MS * (1 - decay(known, HABIT_DECAY_MS));
  const usualGap = span / (use.lasting * decay(idle, HABIT_DECAY_MS));
  return MINUTE / (usualGap + idle / GAPS_TO_DOUBT);
}

function decay(age: number, over: number): number {
  return Math.exp(-Math.max(0, age) / over);
}
