/** How many random orders of events a property is tried with: 1,000, or what `npm run test:long` sets. */
export const RUNS = Number(process.env.SOMNUS_PROPERTY_RUNS ?? 1_000);
/** How long the test of one property may take, ms. */
export const RUNS_TIMEOUT_MS = 120_000 + RUNS * 120;
