export { type Preview, previewAlone } from "./placement/preview.js";
export type { ModelActivity } from "./shell/activity.js";
export type { AdmitOptions } from "./shell/admissions.js";
export type { FinishedLoad } from "./shell/kept-engines.js";
export type { KeptTime } from "./shell/kept-times.js";
export type { WeightsKeeper } from "./shell/kept-weights.js";
export { type AdmissionFacts, Lease } from "./shell/lease.js";
export { withLease } from "./shell/out-of-memory-retry.js";
export type { Schedulable } from "./shell/schedulable.js";
export { Scheduler } from "./shell/scheduler.js";
export {
  generationWork,
  inputsWork,
  roundTokens,
  TOKENIZER_WORK,
  type Work,
} from "./shell/work.js";
export type { MemoryState, MemoryTerms } from "./state/memory-terms.js";
export type { Deadline, ModelPhase, ModelTerms, SchedulerLimits } from "./state/state.js";
export type { Workload } from "./turns/workload.js";
export type { Average } from "./waits/service-time.js";
export type { WaitAccuracy } from "./waits/wait-scores.js";
