export type {
  Artifact,
  ArtifactSpec,
  HuggingFaceSource,
  NpmPart,
  PypiPart,
  Source,
} from "./artifact.js";
export { type Artifacts, type ArtifactsOptions, createArtifacts } from "./artifacts.js";
export { freeBytes, isDiskFull } from "./free-space.js";
export {
  type HubSettings,
  listRepository,
  type RepositoryFile,
  type RepositoryListing,
  readHubSettings,
} from "./hugging-face/index.js";
export type { Limits } from "./limits.js";
export { withLock } from "./lock.js";
export { hashFile } from "./receipt.js";
export { type SharedPackages, sharePackages, sharingLock } from "./shared-packages.js";
export { labelOf } from "./spec.js";
export { storageAdvice } from "./storage-error.js";
