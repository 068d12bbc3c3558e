export { QuietProbe, type QuietProbeOptions } from "./bandwidth/quiet-probe.js";
export { type EngineMemory, readEngineMemory } from "./engine-memory.js";
export { GpuWatch, type GpuWatchOptions } from "./gpu-watch.js";
export { readHostMemory } from "./host-memory.js";
export { hostMemoryNow } from "./host-now.js";
export {
  createMachineWatch,
  type MachineWatch,
  type MachineWatchOptions,
} from "./machine-watch.js";
export type { GpuState } from "./nvidia-state.js";
export { type ProcessMemory, readProcessMemory } from "./process-memory.js";
export {
  type MachineOptions,
  type MachineReader,
  machineReader,
  readMachine,
} from "./read-machine.js";
