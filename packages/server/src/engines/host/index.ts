export { type EngineAddress, freshAddress, sweepAddresses } from "./address.js";
export { engineEnvironment } from "./environment.js";
export { type HostedProcess, type ProcessSpec, startProcess } from "./process.js";
