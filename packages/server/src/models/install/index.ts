export { installVariant, isInstalled } from "./install.js";
export type { InstallOptions } from "./options.js";
export { pullKeyOf } from "./pull-key.js";
export { type RemovedFile, removeVariant, type VariantRemains, variantRemains } from "./remove.js";
export { requireNoOther } from "./require-no-other.js";
