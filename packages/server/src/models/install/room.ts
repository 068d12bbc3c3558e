import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Artifacts, freeBytes } from "../../artifacts/index.js";
import { SomnusError } from "../../http/errors.js";
import { artifactOf, type CatalogFile, isConverted } from "../catalog/index.js";
import { inputPath } from "./inputs.js";

/**
 * Refuses to begin when the models folder lacks room for all that is missing: the files, and where one is
 * converted its inputs beside it. What an earlier attempt left is counted as there; a file of unknown size is
 * not counted, its source looks for itself.
 * @throws SomnusError model_unavailable with what is needed and what is free
 */
export async function requireRoom(
  missing: readonly CatalogFile[],
  artifacts: Artifacts,
  modelsDir: string,
): Promise<void> {
  let needed = 0;
  for (const file of missing) {
    needed += await stillNeeded(join(modelsDir, file.file), file.size);
    if (!isConverted(file)) continue;
    for (const input of file.convert.inputs) {
      const path = inputPath(modelsDir, file, input);
      const spec = artifactOf(input);
      if (await artifacts.installed(spec, dirname(path))) continue;
      needed += await stillNeeded(path, input.size);
    }
  }
  const free = await freeBytes(modelsDir);
  if (free >= needed) return;
  throw new SomnusError(
    "model_unavailable",
    `${gigabytes(needed)} are needed in ${modelsDir}, where ${gigabytes(free)} are free. ` +
      `Free ${gigabytes(needed - free)} there, or choose another folder (pool.models_dir).`,
  );
}

/** Bytes of a file that are not on the disk yet. Its hidden companions are what an earlier attempt received. */
async function stillNeeded(path: string, size: number | undefined): Promise<number> {
  if (size === undefined) return 0;
  const dir = dirname(path);
  const prefix = `.${path.slice(dir.length + 1)}.`;
  const names = await readdir(dir).catch(() => []);
  let received = 0;
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const found = await stat(join(dir, name)).catch(() => null);
    // Blocks, not the length: a part that is filled in several places has holes.
    if (found?.isFile()) received += found.blocks * 512;
  }
  return Math.max(0, size - received);
}

function gigabytes(bytes: number): string {
  return bytes < 1e9
    ? `${Math.ceil(bytes / 1e6)} MB`
    : `${(Math.ceil(bytes / 1e8) / 10).toFixed(1)} GB`;
}
