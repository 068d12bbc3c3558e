/** How long a source may keep silent, all in milliseconds. */
export interface Limits {
  /** Until a source must have answered at all on the first try; a source that has not is passed over. */
  reachMs: number;
  /** Between two pieces of a download, and until the first one, on the first try. */
  stallMs: number;
  /** The same on the second try, which only sources that were merely slow or cut get. */
  patientMs: number;
  /** For how long an unreachable source is not tried again. */
  forgetMs: number;
}

/** An unreachable source is forgotten after ten minutes: a server outlives a train ride without network. */
export const DEFAULT_LIMITS: Limits = {
  reachMs: 5_000,
  stallMs: 20_000,
  patientMs: 60_000,
  forgetMs: 600_000,
};
