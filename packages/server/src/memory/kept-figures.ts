import type { KeptStatus } from "./keeper/index.js";

/** Tier 2 as measured. Bytes; null where the system does not tell, or nothing has been asked yet. */
export interface KeptFigures {
  usedBytes: number;
  freeBytes: number;
  residentBytes: number | null;
  lockedBytes: number | null;
}

/** What kept files hold of a budget: what of each is in memory, or its size where that is not measured. */
export function keptFigures(budgetBytes: number, kept: readonly KeptStatus[]): KeptFigures {
  const held = kept.filter(({ state }) => state !== "lost");
  const usedBytes = sum(held.map(({ bytes, residentBytes }) => residentBytes ?? bytes));
  return {
    usedBytes,
    freeBytes: Math.max(0, budgetBytes - usedBytes),
    residentBytes: known(held.map(({ residentBytes }) => residentBytes)),
    lockedBytes: known(held.map(({ lockedBytes }) => lockedBytes)),
  };
}

function known(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : sum(values as number[]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
