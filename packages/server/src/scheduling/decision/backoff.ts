import type { ExitKind } from "../../engines/index.js";
import type { ErrorCode } from "../../http/errors.js";

const FIRST_COOLDOWN_MS = 1_000;
const LONGEST_COOLDOWN_MS = 60_000;
/** After so many failures in a row the model is given up for a while. */
const GIVE_UP_AFTER = 5;
const GIVE_UP_MS = 5 * 60_000;

/**
 * How long a model rests after a number of failures in a row, in ms. The first failure is free: a killed
 * process is usually an accident, and the next request is to work.
 */
export function cooldownMs(failures: number): number {
  if (failures <= 1) return 0;
  if (failures >= GIVE_UP_AFTER) return GIVE_UP_MS;
  return Math.min(LONGEST_COOLDOWN_MS, FIRST_COOLDOWN_MS * 2 ** (failures - 2));
}

/** The error that waiting requests get when a load fails for a reason. */
export function loadFailureCode(kind: ExitKind): ErrorCode {
  switch (kind) {
    case "out_of_memory":
      return "insufficient_memory";
    case "bad_file":
    case "missing_library":
      return "model_unavailable";
    case "timed_out":
      return "engine_timeout";
    default:
      return "engine_failed";
  }
}
