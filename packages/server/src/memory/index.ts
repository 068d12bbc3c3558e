export { estimate, totalsOf } from "./estimate/index.js";
export type { Estimate, LayerBytes, Placement, Want } from "./estimate-types.js";
export { type Eviction, EvictionHistory } from "./eviction/history.js";
export type { EvictionReason, MemoryTier, Priority } from "./eviction/kinds.js";
export { expectedPerMinute, requestsPerMinute, type Use, withRequest } from "./eviction/rate.js";
export { type Figures, figuresOf, reloadEstimateMs } from "./figures.js";
export {
  createMachineWatch,
  keptBandwidths,
  type MachineReader,
  type MachineWatch,
  machineReader,
  type ProcessMemory,
  probeBandwidths,
  readMachine,
  readProcessMemory,
} from "./hardware/index.js";
export type { Accelerator, Bandwidths, Device, HostMemory, Machine } from "./machine.js";
export type { Booking } from "./planner/book.js";
export { type Budgets, type BudgetTerms, budgetsOf, unaccountedOn } from "./planner/budgets.js";
export { plan } from "./planner/index.js";
export type {
  Costs,
  Hold,
  ModelCost,
  Plan,
  Refusal,
  Resident,
  Shortage,
  Victim,
  Wanted,
} from "./planner/terms.js";
