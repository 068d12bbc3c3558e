/** The scheduler's clock: ms, monotonic. */
export function now(): number {
  return performance.now();
}
