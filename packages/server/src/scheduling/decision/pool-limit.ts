import type { ModelState, SchedulerState } from "../state/state.js";

/** How long a pool is taken to be too large for the machine when nothing has left its memory meanwhile, ms. */
const REMEMBERED_MS = 10 * 60_000;

/** An engine gives the model no larger pool than this, ever: what its terms allow is less from now on. */
export function limitPool(model: ModelState, tokens: number): void {
  model.terms = { ...model.terms, maxContextTokens: tokens };
  model.poolLimit = null;
}

/**
 * There was no memory for a larger pool than the usual one. Until something has changed it is not asked for again:
 * every such try costs those who wait a load that fails.
 */
export function limitForWantOfMemory(model: ModelState, at: number): void {
  const { maxContextTokens, contextTokens } = model.terms;
  model.poolLimit ??= { maxContextTokens, until: 0 };
  model.poolLimit.until = at + REMEMBERED_MS;
  model.terms = { ...model.terms, maxContextTokens: contextTokens };
}

/** Lets the model have a larger pool again where it has done without one for long enough. */
export function forgetOldLimit(model: ModelState, at: number): void {
  if (model.poolLimit !== null && at >= model.poolLimit.until) forget(model);
}

/** Lets the others have larger pools again: what one of them held is free now. */
export function forgetLimitsOfOthers(state: SchedulerState, gone: ModelState): void {
  for (const model of state.models.values()) if (model !== gone) forget(model);
}

function forget(model: ModelState): void {
  if (model.poolLimit === null) return;
  const { maxContextTokens } = model.poolLimit;
  model.terms = { ...model.terms, maxContextTokens };
  model.poolLimit = null;
}
