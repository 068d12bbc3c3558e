export { type HubSpec, parseHubSpec } from "./hub-spec.js";
export { type HubInstallOptions, installHubModel } from "./install.js";
export { type HubModel, type HubModelFile, resolveHubModel } from "./resolve.js";
