/** Requests a minute that a model counts for at least, once a day: a model nobody asks for is still worth its reload. */
const LEAST_RATE = 1 / (24 * 60);

/**
 * What it costs that a model is not there: milliseconds of waiting for reloads, for each minute that
 * it is away. Reload in ms, rate in requests a minute; always above 0.
 */
export function lossOf(reloadMs: number, requestsPerMinute: number): number {
  return Math.max(1, reloadMs) * Math.max(LEAST_RATE, requestsPerMinute);
}
