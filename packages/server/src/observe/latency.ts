/** Upper bounds of the buckets that durations are counted in, ms: steps of a fifth to a half. */
const BOUNDS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800,
  1_000, 1_200, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 15_000,
  20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000, 120_000, 150_000, 200_000,
  300_000, 400_000, 600_000, 900_000, 1_200_000, 1_800_000, 3_600_000,
];

/** How long something takes, ms: the upper bounds of the buckets that the percentiles fall into. */
export interface Percentiles {
  count: number;
  p50: number;
  p95: number;
  p99: number;
}

/** Durations of one kind, counted in buckets: a few hundred bytes however many there are. */
class DurationHistogram {
  readonly #counts = new Uint32Array(BOUNDS.length + 1);
  #count = 0;
  /** What is above the last bound is told as it is. */
  #longest = 0;

  /** Counts one duration, ms. */
  add(ms: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && ms > BOUNDS[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#count++;
    this.#longest = Math.max(this.#longest, ms);
  }

  /** Null while nothing was counted. */
  percentiles(): Percentiles | null {
    if (this.#count === 0) return null;
    const [p50, p95, p99] = [this.#quantile(0.5), this.#quantile(0.95), this.#quantile(0.99)];
    return { count: this.#count, p50, p95, p99 };
  }

  #quantile(q: number): number {
    let left = Math.ceil(q * this.#count);
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return BOUNDS[bucket] ?? Math.ceil(this.#longest);
    }
    return Math.ceil(this.#longest);
  }
}

/** Durations by name. */
export class LatencyTable {
  readonly #rows = new Map<string, DurationHistogram>();
  readonly #mostNames: number;

  /** `mostNames`: with a name beyond so many, durations are counted under `other`. */
  constructor(mostNames: number) {
    this.#mostNames = mostNames;
  }

  /** Counts one duration, ms, under a name. */
  add(name: string, ms: number): void {
    const key = this.#rows.has(name) || this.#rows.size < this.#mostNames ? name : "other";
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = new DurationHistogram();
      this.#rows.set(key, row);
    }
    row.add(ms);
  }

  /** The names that something was counted under, and their percentiles. */
  list(): Record<string, Percentiles> {
    // Without a prototype: a name may be anything.
    const listed: Record<string, Percentiles> = Object.create(null);
    for (const [name, row] of this.#rows) listed[name] = row.percentiles()!;
    return listed;
  }
}
