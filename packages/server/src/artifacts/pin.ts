import type { ArtifactSpec } from "./artifact.js";
import type { Receipt } from "./receipt.js";
import { labelOf } from "./spec.js";

/**
 * The SHA-256 that the first download of a file left in its receipt, for later ones of the same spec to be held to;
 * null where the spec names a hash itself, the first download was from a source that the spec no longer has, or
 * somebody who knows (the spec, the source's metadata) said what the content must be. The receipt stays when only
 * the file is deleted.
 */
export function heldTo(spec: ArtifactSpec, receipt: Receipt | null): string | null {
  if (spec.sha256 !== null || receipt?.pinned?.by !== "first download") return null;
  const from = receipt.pinned.source ?? receipt.source;
  const isOfSpec = spec.sources.some((source) => labelOf(source) === from);
  return isOfSpec ? receipt.pinned.sha256 : null;
}
