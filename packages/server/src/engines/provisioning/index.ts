export type { BinaryOrigin, EngineBinary } from "./binary.js";
export { createProvisioning, type Provisioning } from "./provisioning.js";
export type { Accelerator, Tool, Toolchain } from "./toolchain.js";
export type { ProvisioningOptions } from "./way.js";
