import { type Budgets, type Plan, type Refusal, totalsOf } from "../../memory/index.js";
import type { MemoryState } from "../state/memory-terms.js";
import { latestTerms, newModel } from "../state/model-state.js";
import { createState, type ModelTerms, type SchedulerState } from "../state/state.js";
import { planFor, residentsFor, wantedOf } from "./plan-input.js";

/** How a model would be loaded now, and what the plan was made from. */
export interface Preview {
  plan: Plan | Refusal;
  /** What the model needs, by part; bytes. `correction`: by measured loads, 1 is the formula alone. */
  parts: { weights: number; kv: number; workspace: number; process: number; correction: number };
  budgets: Budgets;
}

/**
 * The plan that a load which somebody asks for now would get. Changes nothing.
 * @param contextTokens the pool context, no more and no less; null: as the model is usually loaded
 * @returns null while memory is not planned
 */
export function preview(
  state: SchedulerState,
  terms: ModelTerms,
  contextTokens: number | null,
  at: number,
): Preview | null {
  const { memory } = state;
  const known = state.models.get(terms.id);
  const latest = known === undefined ? terms : latestTerms(known, terms);
  const own = latest.memory;
  if (memory === null || own === undefined) return null;
  const model = { ...(known ?? newModel(terms)), terms: latest, queue: [], askedAt: at };
  model.poolTokens = contextTokens ?? Math.min(terms.contextTokens, latest.maxContextTokens);
  const asIf = { ...state, models: new Map(state.models).set(terms.id, model) };
  const wanted = wantedOf(model, own, contextTokens ?? 1, "any");
  const residents = residentsFor(asIf, model, at, "any");
  return {
    plan: planFor(asIf, memory, wanted, residents, at),
    parts: { ...totalsOf(wanted.estimate), correction: wanted.estimate.correction },
    budgets: memory.budgets,
  };
}

/** The same on a server on which nothing is loaded. */
export function previewAlone(
  memory: MemoryState,
  terms: ModelTerms,
  contextTokens: number | null,
): Preview | null {
  return preview(createState(1, memory), terms, contextTokens, 0);
}
