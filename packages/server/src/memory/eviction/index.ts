export { type Candidate, chooseVictims, type Ground } from "./choose-victims.js";
export { keptWarm, type Leaving } from "./destination.js";
export { type Eviction, EvictionHistory } from "./history.js";
export {
  type EvictionReason,
  type MemoryTier,
  type Priority,
  rankOf,
} from "./kinds.js";
export { lossOf } from "./loss.js";
export {
  expectedPerMinute,
  RATE_DECAY_MS,
  rateOf,
  requestsPerMinute,
  type Use,
  withRequest,
} from "./rate.js";
