export { type ControlGroup, type GroupMemory, readControlGroup } from "./control-group.js";
export { type CpuSources, type LogicalCpu, physicalCores, readCpus } from "./cpus.js";
export { findProgram, isExecutableFile } from "./find-program.js";
export {
  type Liveness,
  livenessOf,
  ownIdentity,
  type ProcessIdentity,
  readIdentity,
  writeIdentity,
} from "./identity.js";
export { killGroup } from "./kill-group.js";
export { type Mount, parseMounts } from "./mounts.js";
export { type ParentDeath, type TiedCommand, tiedToOurLife } from "./parent-death.js";
export { SystemFiles } from "./system-files.js";
