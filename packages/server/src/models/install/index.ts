export { installVariant, isInstalled } from "./install.js";
export type { InstallOptions } from "./options.js";
export { type RemovedFile, removeVariant } from "./remove.js";
