import { createHash } from "node:crypto";
import type { ArtifactSpec, Source } from "../artifact.js";

/** Bytes that repeat nowhere near, the same for the same size and seed. */
export function payload(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < size; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** The spec of a file with exactly this content. */
export function specOf(
  content: Buffer,
  sources: Source[],
  file = "model.bin",
): ArtifactSpec & { size: number; sha256: string } {
  return {
    file,
    size: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    sources,
  };
}
