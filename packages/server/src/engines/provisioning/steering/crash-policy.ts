import type { ExitReason } from "../../engine.js";

/** Whether an engine ended before it could serve, or afterwards. */
export type Phase = "load" | "run";

/** An end for which the build may be to blame. */
export interface Death {
  phase: Phase;
  /** Milliseconds on any clock that only goes forward. */
  at: number;
}

/** So many deaths of one build's engines are a loop. */
export const DEATHS_OF_A_LOOP = 3;
/** Older deaths are forgotten, ms: a crash a day is no loop. */
export const LOOP_WINDOW_MS = 10 * 60_000;

/** Signals that others send; a program does not end by them on its own account. */
const FROM_OUTSIDE = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]);
/** The build does not know how it is started, or is none for this system. */
const UNFIT =
  /invalid argument|unknown argument|exec format error|cannot execute|does not describe itself/i;

/**
 * Whether an end can be the build's fault: a crash, a missing library, a program that does not fit.
 * Never a want of memory, a bad model file, a kill from outside, a timeout or an end that was asked for.
 */
export function mayBlameBuild(exit: ExitReason): boolean {
  switch (exit.kind) {
    case "missing_library":
      return true;
    case "signal":
      return exit.signal === null || !FROM_OUTSIDE.has(exit.signal);
    case "failed":
      return [exit.message, ...exit.log.slice(-5)].some((line) => UNFIT.test(line));
    default:
      return false;
  }
}

/** The deaths that count after one more, oldest first. */
export function afterDeath(deaths: readonly Death[], death: Death): Death[] {
  return [...deaths.filter(({ at }) => death.at - at <= LOOP_WINDOW_MS), death];
}

/** The deaths that count after a load that worked: only those in a row count of the loads. */
export function afterReady(deaths: readonly Death[]): Death[] {
  return deaths.filter(({ phase }) => phase === "run");
}

/** Whether engines of the build crash in a loop. */
export function isLoop(deaths: readonly Death[]): boolean {
  return deaths.length >= DEATHS_OF_A_LOOP;
}
