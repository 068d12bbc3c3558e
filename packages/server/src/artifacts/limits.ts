/** How patient a fetch is and how it splits a large file. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Until a source must have answered at all on the first try; a source that has not is passed over. */
  reachMs: number;
  /** Between two pieces of a download, and until the first one, on the first try. */
  stallMs: number;
  /** The same on the second try, which only sources that were merely slow or cut get. */
  patientMs: number;
  /** For how long an unreachable source is not tried again. */
  forgetMs: number;
  /** How often a cut or refused connection is tried again before it counts as a failure. */
  retries: number;
  /** Before the first of these; doubled for each further one. */
  backoffMs: number;
  /** The longest wait that a busy server may ask for. */
  retryAfterMs: number;
  /** From this size on a file comes over several connections. */
  parallelFrom: number;
  /** How many. */
  connections: number;
  /** What one of them asks for at a time. */
  segment: number;
}

/** An unreachable source is forgotten after ten minutes: a server outlives a train ride without network. */
export const DEFAULT_LIMITS: Limits = {
  reachMs: 5_000,
  stallMs: 20_000,
  patientMs: 60_000,
  forgetMs: 600_000,
  retries: 4,
  backoffMs: 1_000,
  retryAfterMs: 60_000,
  parallelFrom: 64 * 1024 ** 2,
  connections: 4,
  segment: 16 * 1024 ** 2,
};
