import fc from "fast-check";

/** How many random orders of events a property is tried with: 1,000, or what `npm run test:long` sets. */
export const RUNS = Number(process.env.SOMNUS_PROPERTY_RUNS ?? 1_000);
/** How long the test of one property may take, ms. */
export const RUNS_TIMEOUT_MS = 120_000 + RUNS * 120;

// The short run tries the same orders every time, so that it fails only for what was changed; the long one others.
if (process.env.SOMNUS_PROPERTY_RUNS === undefined) fc.configureGlobal({ seed: 1 });
