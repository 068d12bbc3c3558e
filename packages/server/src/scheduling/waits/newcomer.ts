import type { ContextNeed, ModelState, RequestState } from "../state/state.js";
import type { Demand } from "../turns/demand.js";
import { turnOf, USUAL_WORKLOAD, type Workload } from "../turns/workload.js";
import { sizeOf } from "./service-time.js";

/** A request that comes now, as far as its wait depends on it. */
export interface Newcomer extends Pick<RequestState, "need" | "turn" | "size"> {
  workload: Workload;
  /** Whether idle models may go so that it can run. */
  mayEvict: boolean;
}

/** A request that comes at a time; one that names no class is of the usual one. */
export function newcomer(
  need: ContextNeed,
  at: number,
  workload: Workload = USUAL_WORKLOAD,
  mayEvict = true,
): Newcomer {
  return { need, turn: turnOf(workload, at), size: sizeOf(need), workload, mayEvict };
}

/** What may be done for a model's load once the request waits for it as well. */
export function demandWith(model: ModelState, { workload, mayEvict }: Newcomer): Demand {
  const { waiting, askedAt } = model;
  const isBackground = workload === "background";
  if (askedAt !== null || waiting.ordinary > 0 || (mayEvict && !isBackground)) return "any";
  return waiting.background > 0 || mayEvict ? "unspared" : "nobody";
}
