import type { MemoryModel } from "@somnus/contract";
import type { KeptStatus } from "../memory/index.js";
import { withoutFolders } from "../observe/index.js";
import type { ModelActivity } from "../scheduling/index.js";

/** Longest reason that is shown, in characters. */
const REASON = 300;

/**
 * What the status says of a model's weights in tier 2: all its files together, and what was not measured of one of
 * them is not known of all. `files`: all kept files, as measured. `paths`: those of the model.
 */
export function keptRow(
  { kept, keepProblem }: Pick<ModelActivity, "kept" | "keepProblem">,
  files: readonly KeptStatus[],
  paths: readonly string[],
): Pick<MemoryModel, "kept_weights" | "kept_problem"> {
  const kept_problem = keepProblem === null ? null : shown(keepProblem);
  if (kept === null) return { kept_weights: null, kept_problem };
  const own = paths.map((path) => files.find((one) => one.path === path));
  const isRestored = kept.phase === "kept" && own.some((file) => file?.state === "restoring");
  const reason = own.find((file) => file?.reason != null)?.reason ?? null;
  return {
    kept_weights: {
      state: isRestored ? "restoring" : kept.phase,
      booked_bytes: kept.bytes,
      resident_bytes: sumOf(own.map((file) => file?.residentBytes ?? null)),
      locked_bytes: sumOf(own.map((file) => file?.lockedBytes ?? null)),
      not_locked_because: reason === null ? null : shown(reason),
    },
    kept_problem,
  };
}

function sumOf(bytes: readonly (number | null)[]): number | null {
  return bytes.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

function shown(text: string): string {
  return withoutFolders(text).slice(0, REASON);
}
