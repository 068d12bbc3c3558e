export type { FinishedLoad, Schedulable } from "./kept-engines.js";
export type { WeightsKeeper } from "./kept-weights.js";
export { type AdmissionFacts, Lease } from "./lease.js";
export type { MemoryState, MemoryTerms } from "./memory-terms.js";
export { type ModelActivity, Scheduler } from "./scheduler.js";
export type { Deadline, ModelPhase, ModelTerms } from "./state.js";
export type { WaitAccuracy } from "./wait-scores.js";
