export {
  correct,
  type EstimateOptions,
  estimate,
  type LoadKey,
  type MeasuredLoad,
  type Measurement,
  measuredLoad,
  settingsKey,
  totalsOf,
} from "./estimate/index.js";
export type { Estimate, LayerBytes, Placement, Want } from "./estimate-types.js";
export {
  type Eviction,
  EvictionHistory,
  type EvictionReason,
  expectedPerMinute,
  lossOf,
  type MemoryTier,
  type Priority,
  rankOf,
  requestsPerMinute,
  type Use,
  withRequest,
} from "./eviction/index.js";
export { type Figures, figuresOf, reloadEstimateMs } from "./figures.js";
export {
  createMachineWatch,
  type EngineMemory,
  type GpuState,
  GpuWatch,
  hostMemoryNow,
  type MachineReader,
  type MachineWatch,
  machineReader,
  type ProcessMemory,
  QuietProbe,
  type QuietProbeOptions,
  readEngineMemory,
  readMachine,
  readProcessMemory,
} from "./hardware/index.js";
export {
  createKeeper,
  type Keeper,
  type KeeperEvent,
  type Kept,
  type KeptStatus,
} from "./keeper/index.js";
export { type KeptFigures, keptFigures } from "./kept-figures.js";
export type { Accelerator, Bandwidths, Device, HostMemory, Machine } from "./machine.js";
export {
  bytesOf,
  filesIdentity,
  fitsInto,
  freeHostBytes,
  type ParkedConversation,
  type ParkedFile,
  type ParkedModel,
  ParkingBook,
  ParkingFolder,
  type ParkingSettings,
  whyNotParked,
} from "./parking/index.js";
export * from "./planner/index.js";
