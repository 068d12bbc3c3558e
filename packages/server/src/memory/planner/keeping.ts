import { Book, type Booking } from "./book.js";
import type { Budgets } from "./budgets.js";
import { gib } from "./reason.js";

/** A model whose weights are to be kept in tier 2. Bytes. */
export interface Keeping {
  model: string;
  artifact: string;
  artifactBytes: number;
}

/**
 * Why a model's weights cannot be kept beside what is booked, with the numbers, in a sentence; null when they can.
 * Pages that others map already take no more of the host.
 */
export function whyNotKept(
  budgets: Budgets,
  booked: readonly Booking[],
  { model, artifact, artifactBytes }: Keeping,
): string | null {
  let taken = 0;
  for (const { keptBytes } of booked) taken += keptBytes;
  if (taken + artifactBytes > budgets.tier2Bytes) {
    return `Keeping the weights of ${model} in memory takes ${gib(artifactBytes)}, but of the ${gib(budgets.tier2Bytes)} for kept weights ${gib(taken)} are taken.`;
  }
  const book = new Book(budgets, booked, { artifact, artifactBytes });
  const adds = book.mappingAdds(artifact, artifactBytes, artifactBytes);
  if (adds <= book.freeHost || adds === 0) return null;
  return `Keeping the weights of ${model} in memory takes ${gib(adds)} of ${book.hostLimit}, but ${gib(Math.max(0, book.freeHost))} is free.`;
}
