export type { BinaryOrigin, EngineBinary } from "./binary.js";
export type { BuildAccelerator } from "./build-id.js";
export { configuredOrigins } from "./configured.js";
export { NextEngine } from "./next-engine.js";
export { type ProbeResult, probe } from "./probe.js";
export { createProvisioning, type InstallRequest, type Provisioning } from "./provisioning.js";
export type { AvailableBuild, EngineReport, ReportedBuild } from "./report.js";
export type { Accelerator, Tool, Toolchain } from "./toolchain.js";
export type { ProvisioningOptions } from "./way.js";
