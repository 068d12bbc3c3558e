import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../artifacts/index.js";
import type { OnProgress } from "../../observe/index.js";
import { explainDiskError } from "./disk-error.js";
import type { Context } from "./way.js";

/**
 * Runs work that changes the folder of an engine's builds while no other process does.
 * @throws SomnusError `model_unavailable` when the folder cannot be written or its disk is full
 * @throws the signal's reason when it fires while waiting, and what `work` throws
 */
export async function underLock<T>(
  { root, engine, options }: Pick<Context, "root" | "engine" | "options">,
  on: OnProgress,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const onWait = (holder: { pid: number } | null) => {
    const whom = holder === null ? "another process" : `process ${holder.pid}`;
    options.log.info({ holder }, `waiting for ${whom}, which prepares ${engine.name}`);
    on({ step: `waiting for ${whom}, which prepares ${engine.name}`, done: 0, unit: "steps" });
  };
  try {
    await mkdir(root, { recursive: true });
    return await withLock(join(root, "build.lock"), { signal, onWait }, work);
  } catch (error) {
    throw explainDiskError(error, engine.name, root);
  }
}
