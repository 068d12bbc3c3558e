export type { Artifact, ArtifactSpec, PypiPart, Source } from "./artifact.js";
export { type Artifacts, type ArtifactsOptions, createArtifacts } from "./artifacts.js";
export { freeBytes, isDiskFull } from "./free-space.js";
export type { Limits } from "./limits.js";
export { withLock } from "./lock.js";
