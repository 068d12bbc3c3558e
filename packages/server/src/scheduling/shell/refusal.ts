import { SomnusError } from "../../http/errors.js";
import type { SchedulerEffect } from "../state/state.js";

/** The error that a refusal is told as. */
export function refusalOf(
  effect: Extract<SchedulerEffect, { type: "refuse" | "loadRefused" }>,
): SomnusError {
  return new SomnusError(effect.code, effect.message, {
    ...(effect.param === undefined ? {} : { param: effect.param }),
    ...(effect.retryAfterSecs === undefined ? {} : { retryAfterSecs: effect.retryAfterSecs }),
  });
}
