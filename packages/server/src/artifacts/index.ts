export type {
  Artifact,
  ArtifactSpec,
  HuggingFaceSource,
  NpmPart,
  PypiPart,
  Source,
} from "./artifact.js";
export { type Artifacts, type ArtifactsOptions, createArtifacts } from "./artifacts.js";
export { companionsOf } from "./fetch-file.js";
export { broughtHere } from "./foreign-file.js";
export { freeBytes, isDiskFull } from "./free-space.js";
export {
  listRepository,
  type RepositoryFile,
  type RepositoryListing,
} from "./hugging-face/index.js";
export type { Limits } from "./limits.js";
export { holderText, withLock } from "./lock.js";
export { type SharedPackages, sharePackages, sharingLock } from "./shared-packages.js";
export { labelOf } from "./spec.js";
export { storageAdvice } from "./storage-error.js";
