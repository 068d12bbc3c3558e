export {
  correct,
  type LoadKey,
  type LoadSettings,
  type MeasuredLoad,
  type Measurement,
  measuredLoad,
  settingsKey,
} from "./correct.js";
export { type EstimateOptions, type EstimateTotals, estimate, totalsOf } from "./estimate.js";
export type { ProcessorFeature } from "./repacked-weights.js";
