import type { ErrorCode } from "../../http/errors.js";
import { planFor, residentsFor, wantedOf } from "../placement/plan-input.js";
import type { ModelState, SchedulerState } from "../state/state.js";

/** The pool doubled until the wanted context fits. */
export function grownPool(pool: number, wanted: number, most: number): number {
  let grown = Math.max(1, pool);
  while (grown < wanted) grown *= 2;
  return Math.min(grown, most);
}

/**
 * Why a loaded model cannot be loaded anew with a larger pool, whoever else leaves; null when it can. To be asked
 * before it goes: an engine that serves is worth more than a load that is refused.
 * @param pool tokens without which it is of no use, and those that are wanted
 */
export function whyNotGrown(
  state: SchedulerState,
  model: ModelState,
  pool: { least: number; wanted: number },
  at: number,
): { code: ErrorCode; message: string } | null {
  const { memory } = state;
  const terms = model.terms.memory;
  if (memory === null || terms === undefined) return null;
  const residents = residentsFor(state, model, at, "any", true);
  const grown = wantedOf({ ...model, poolTokens: pool.wanted }, terms, pool.least, "any");
  const plan = planFor(state, memory, grown, residents, at);
  if (plan.accepted) return null;
  return {
    code: plan.code,
    message:
      `The request needs ${pool.least} tokens of context; ${model.terms.id} has ${model.poolTokens}, ` +
      `and there is no memory for more: ${plan.reason}`,
  };
}
