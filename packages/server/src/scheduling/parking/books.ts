import { type Budgets, freeHostBytes, type Plan, type Refusal } from "../../memory/index.js";
import { bookingsOf } from "../placement/plan-input.js";
import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { parkedBytes } from "./parked-bytes.js";
import type { Parked } from "./terms.js";

/** Host memory that more parked conversations may take; bytes. */
export function freeForParking(state: SchedulerState): number {
  if (!state.parking.takesMemory || state.memory === null) return Number.POSITIVE_INFINITY;
  return freeHostBytes(state.memory.budgets, bookingsOf(state));
}

/**
 * The budgets that a load is planned with: what is parked takes its part. `everybodyLeaves`: as it will be when
 * it has made room as well.
 */
export function budgetsBesideParked(state: SchedulerState, everybodyLeaves: boolean): Budgets {
  const { budgets } = state.memory!;
  const bytes = everybodyLeaves || state.parking.overlooked ? 0 : parkedBytes(state);
  return bytes === 0 ? budgets : { ...budgets, ownBytes: budgets.ownBytes + bytes };
}

/**
 * Makes a plan for a model. Parked conversations cost least to lose: where the plan would be a better one
 * without them they are dropped, the oldest first and the model's own last.
 */
export function planAheadOfParked(
  state: SchedulerState,
  model: ModelState,
  effects: SchedulerEffect[],
  plan: () => Plan | Refusal,
): Plan | Refusal {
  const { parking } = state;
  let best = plan();
  while (parking.takesMemory && parking.book.bytes > 0 && !isFree(best)) {
    parking.overlooked = true;
    const without = plan();
    parking.overlooked = false;
    if (!isBetter(without, best)) break;
    const parked = parking.book.list();
    const oldest = parked.find((one) => one.model !== model.terms.id) ?? parked[0];
    if (oldest === undefined) break;
    effects.push(...discard(parking.book.drop(oldest.model)));
    best = plan();
  }
  return best;
}

function isFree(plan: Plan | Refusal): boolean {
  return plan.accepted && plan.victims.length === 0;
}

function isBetter(a: Plan | Refusal, b: Plan | Refusal): boolean {
  if (!a.accepted) return false;
  return !b.accepted || a.victims.length < b.victims.length;
}

/** What is to be done with the files of conversations that were dropped. */
export function discard(dropped: readonly Parked[]): SchedulerEffect[] {
  const files = dropped.flatMap(({ conversations }) => conversations.map(({ file }) => file.name));
  return files.length === 0 ? [] : [{ type: "discard", files }];
}
