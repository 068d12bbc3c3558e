import type { ModelState } from "../state/state.js";
import { isForeground, type Workload } from "./workload.js";

/**
 * How long a model that interactive or standard requests have used is kept from background work, in ms
 * after that use: as long as the rate of requests counts as present.
 */
export const SPARED_MS = 10 * 60_000;

/**
 * Who may go so that a model can be loaded: `any` idle one; `unspared`: none that interactive or standard
 * requests, or a person, have used in the last ten minutes; or `nobody`.
 */
export type Demand = "any" | "unspared" | "nobody";

/** What those who want the model loaded may have done for it: as much as the most urgent of them. */
export function demandOf(model: ModelState): Demand {
  if (model.askedAt !== null || model.waiting.ordinary > 0) return "any";
  return model.waiting.background > 0 ? "unspared" : "nobody";
}

/** Whether background work has to leave the model where it is. */
export function isSpared(model: ModelState, at: number): boolean {
  return model.foregroundAt !== null && at < model.foregroundAt + SPARED_MS;
}

/** Notes that a request uses the model, or that a person wants it loaded. */
export function noteUse(model: ModelState, workload: Workload, at: number): void {
  if (isForeground(workload)) model.foregroundAt = at;
}
