import type { MemoryModel } from "@somnus/contract";
import type { KeptStatus } from "../memory/index.js";
import { withoutFolders } from "../observe/index.js";
import type { ModelActivity } from "../scheduling/index.js";

/** Longest reason that is shown, in characters. */
const REASON = 300;

/** What the status says of a model's weights in tier 2. `files`: all kept files, as measured. */
export function keptRow(
  { kept, keepProblem }: Pick<ModelActivity, "kept" | "keepProblem">,
  files: readonly KeptStatus[],
  path: string,
): Pick<MemoryModel, "kept_weights" | "kept_problem"> {
  const kept_problem = keepProblem === null ? null : shown(keepProblem);
  if (kept === null) return { kept_weights: null, kept_problem };
  const file = files.find((one) => one.path === path);
  const isRestored = kept.phase === "kept" && file?.state === "restoring";
  return {
    kept_weights: {
      state: isRestored ? "restoring" : kept.phase,
      booked_bytes: kept.bytes,
      resident_bytes: file?.residentBytes ?? null,
      locked_bytes: file?.lockedBytes ?? null,
      not_locked_because: file?.reason == null ? null : shown(file.reason),
    },
    kept_problem,
  };
}

function shown(text: string): string {
  return withoutFolders(text).slice(0, REASON);
}
