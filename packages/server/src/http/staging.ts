import { SomnusError } from "./errors.js";

/** What the server still does before it can serve models, or what kept it from getting there. */
export interface Staging {
  /** For people: what is going on. */
  readonly reason: string;
  /** The step that runs or failed. */
  readonly phase?: string | undefined;
  /** How much of the step is done, 0 to 100; null when it cannot be told. */
  readonly percent?: number | null | undefined;
  /** Seconds left; null when it cannot be told. */
  readonly etaSecs?: number | null | undefined;
  /** Whether the step failed, so that waiting alone does not help. */
  readonly failed?: boolean | undefined;
  /** What to do about a failure. */
  readonly hint?: string | undefined;
}

/** The refusal of a route that has to wait for staging: how far it is, or why it stands still. */
export function stagingError(staging: Staging): SomnusError {
  if (staging.failed) {
    const hint = staging.hint === undefined ? "" : ` ${staging.hint}`;
    return new SomnusError(
      "staging",
      `The server could not get ready: ${sentence(staging.reason)}${hint} GET /ready tells when it is.`,
    );
  }
  const progress: string[] = [];
  if (typeof staging.percent === "number") progress.push(`${Math.floor(staging.percent)} %`);
  if (typeof staging.etaSecs === "number") progress.push(`about ${duration(staging.etaSecs)} left`);
  const doing =
    progress.length === 0 ? staging.reason : `${staging.reason} (${progress.join(", ")})`;
  return new SomnusError(
    "staging",
    `The server is getting ready: ${sentence(doing)} Try again in a few seconds; GET /ready tells when it is done.`,
  );
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function duration(secs: number): string {
  const whole = Math.max(1, Math.ceil(secs));
  return whole < 90 ? `${whole} s` : `${Math.round(whole / 60)} min`;
}
