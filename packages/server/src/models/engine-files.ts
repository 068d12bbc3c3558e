import { ggufPartPaths } from "../gguf/index.js";
import type { PoolModel } from "./pool-model.js";

/** The files that a model's engine reads: all parts of its weights, and its projector. Absolute paths. */
export function engineFiles({
  weightsPath,
  projectorPath,
}: Pick<PoolModel, "weightsPath" | "projectorPath">): string[] {
  const parts = ggufPartPaths(weightsPath);
  return projectorPath === null ? parts : [...parts, projectorPath];
}
