/** How long one prefill batch may hold everybody up, seconds. */
const BATCH_SECS = 0.4;
const SMALLEST = 64;
const LARGEST = 2048;
/** Before a rate was measured: a processor takes about 400 ms for this many tokens of a small model. */
const FIRST_CPU = 128;
const FIRST_ACCELERATOR = 2048;

/**
 * Tokens of one prefill batch: the power of two from 64 to 2048 that comes nearest to 400 ms.
 * @param tokensPerSecond prefill rate measured for this model; absent before its first answer
 * @param accelerated whether layers run on a GPU
 */
export function batchSize(tokensPerSecond: number | undefined, accelerated: boolean): number {
  if (tokensPerSecond === undefined) return accelerated ? FIRST_ACCELERATOR : FIRST_CPU;
  const nearest = 2 ** Math.round(Math.log2(Math.max(1, tokensPerSecond * BATCH_SECS)));
  return Math.min(LARGEST, Math.max(SMALLEST, nearest));
}

/** Fewer computed tokens than this say nothing about a rate. */
const LEAST_TOKENS = 48;
/** Weight of the newest measurement. */
const NEWEST = 0.3;

/** Prefill rates of models, learned from the engine's own timings and kept for their next load. */
export class PrefillRates {
  readonly #rates = new Map<string, number>();

  /** @param ms time that the engine needed for `tokens` */
  observe(model: string, tokens: number, ms: number): void {
    if (tokens < LEAST_TOKENS || !(ms > 0)) return;
    const rate = (tokens * 1000) / ms;
    const known = this.#rates.get(model);
    this.#rates.set(model, known === undefined ? rate : known + (rate - known) * NEWEST);
  }

  /** Tokens a second; undefined before anything was measured. */
  of(model: string): number | undefined {
    return this.#rates.get(model);
  }
}
