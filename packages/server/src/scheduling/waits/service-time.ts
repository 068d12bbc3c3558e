/** A running average. The unit is its user's. */
export interface Average {
  mean: number;
  /** Mean distance of the values from it; 0 while there is one value. */
  deviation: number;
  samples: number;
}

/** The latest values count: an average rests on about so many. */
const WINDOW = 20;

/** An average with one more value; of the first few values it is the plain mean. */
export function withValue(average: Average | null, value: number): Average {
  if (average === null) return { mean: value, deviation: 0, samples: 1 };
  const { mean, deviation, samples } = average;
  const share = Math.max(1 / (samples + 1), 1 / WINDOW);
  const distance = Math.abs(value - mean);
  return {
    mean: mean + share * (value - mean),
    // The first two values know one distance, not two.
    deviation: samples === 1 ? distance / 2 : deviation + share * (distance - deviation),
    samples: samples + 1,
  };
}

/** How long a model's requests have held their slots, in ms. */
export interface ServiceTimes {
  /** Of all requests; null before the first. */
  all: Average | null;
  /** Of requests of about one size, by its `sizeOf`. */
  bySize: Map<number, Average>;
}

/** With what is known from before; null is nothing. */
export function serviceTimesFrom(all: Average | null): ServiceTimes {
  return { all, bySize: new Map() };
}

const CLASSES = 32;

/** The size of a request in classes, as one number below 1024: what it may generate, doubling, and its prompt, fourfold. */
export function sizeOf(need: { promptBound: number; maxTokens: number }): number {
  const answer = Math.floor(Math.log2(Math.max(1, need.maxTokens)));
  const prompt = Math.floor(Math.log2(Math.max(1, need.promptBound)) / 2);
  return Math.min(CLASSES - 1, answer) * CLASSES + Math.min(CLASSES - 1, prompt);
}

/** Notes how long a request has held its slot. */
export function learn(times: ServiceTimes, size: number, heldMs: number): void {
  times.all = withValue(times.all, heldMs);
  times.bySize.set(size, withValue(times.bySize.get(size) ?? null, heldMs));
}

/** The average of all requests counts for so many of the same size. */
const PRIOR = 1;

/** How long a request of a size is expected to hold its slot, in ms; null when no request of the model has yet. */
export function expectedHoldMs({ all, bySize }: ServiceTimes, size: number): number | null {
  if (all === null) return null;
  const like = bySize.get(size);
  if (like === undefined) return all.mean;
  const samples = Math.min(like.samples, WINDOW);
  return (like.mean * samples + all.mean * PRIOR) / (samples + PRIOR);
}

/**
 * How much longer a request is expected to hold its slot after it has for a while, in ms; null when no
 * request of the model has ended yet. One that takes longer than expected takes about a deviation more.
 */
export function remainingMs(times: ServiceTimes, size: number, heldMs: number): number | null {
  const expected = expectedHoldMs(times, size);
  if (expected === null) return null;
  const { deviation } = times.bySize.get(size) ?? times.all!;
  return Math.max(expected - heldMs, deviation, 0);
}
