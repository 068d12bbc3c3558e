/** Tokens of thoughts for each level of effort that a client may ask for by name. */
export const EFFORT_BUDGETS = { minimal: 512, low: 512, medium: 2048, high: 6144 } as const;
