/** Tokens of thoughts for each level of effort that a client may ask for by name. */
export const EFFORT_BUDGETS = { minimal: 512, low: 512, medium: 2048, high: 6144 } as const;

/** A level, and whether it is just the budget that was meant. */
export interface NearestEffort {
  effort: "low" | "medium" | "high";
  exact: boolean;
}

/**
 * The level whose budget is next to a number of tokens, from above where there is one.
 * @param budgetTokens undefined: as many as the model wants, which is more than any level has
 */
export function nearestEffort(budgetTokens: number | undefined): NearestEffort {
  if (budgetTokens === undefined) return { effort: "high", exact: false };
  const levels = ["low", "medium", "high"] as const;
  const effort = levels.find((level) => EFFORT_BUDGETS[level] >= budgetTokens) ?? "high";
  return { effort, exact: EFFORT_BUDGETS[effort] === budgetTokens };
}
