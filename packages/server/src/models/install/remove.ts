import { rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Artifacts } from "../../artifacts/index.js";
import { type Catalog, type CatalogVariant, isConverted } from "../catalog/index.js";
import { inputsFolder, inputsRoot } from "./inputs.js";
import { isInstalled } from "./install.js";
import { removePackages } from "./packages.js";

/** What became of a file of a removed variant. */
export interface RemovedFile {
  file: string;
  /** Bytes it had; 0 when it was not there. */
  size: number;
  /** False: another installed variant uses it, so it stays. */
  removed: boolean;
}

/**
 * Removes the files of a variant from the models folder, with their receipts and whatever an unfinished fetch
 * or conversion left of them. Files that another installed variant of the catalog uses stay, and those of `keep`.
 * @throws an fs error when a file cannot be removed
 */
export async function removeVariant(
  variant: CatalogVariant,
  {
    catalog,
    artifacts,
    modelsDir,
    keep,
  }: {
    catalog: Catalog;
    artifacts: Artifacts;
    modelsDir: string;
    /** Absolute paths of files that others use. */
    keep?: ReadonlySet<string>;
  },
): Promise<RemovedFile[]> {
  const inUse = await filesInUse(variant, catalog, artifacts, modelsDir);
  const done: RemovedFile[] = [];
  for (const file of variant.files) {
    const path = join(modelsDir, file.file);
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    const removed = !inUse.has(file.file) && !keep?.has(path);
    if (removed) {
      await artifacts.forget(path);
      if (isConverted(file)) {
        await rm(inputsFolder(modelsDir, file), { recursive: true, force: true });
        await rmdir(inputsRoot(modelsDir)).catch(() => {});
      }
    }
    done.push({ file: file.file, size, removed });
  }
  await removePackages(variant, modelsDir);
  return done;
}

/** The files of a variant that others which are installed have as well. */
async function filesInUse(
  variant: CatalogVariant,
  catalog: Catalog,
  artifacts: Artifacts,
  modelsDir: string,
): Promise<Set<string>> {
  const own = new Set(variant.files.map(({ file }) => file));
  const inUse = new Set<string>();
  for (const other of catalog.models.flatMap((model) => model.variants)) {
    const shared = other.files.map(({ file }) => file).filter((file) => own.has(file));
    if (other === variant || shared.length === 0) continue;
    if (await isInstalled(other, artifacts, modelsDir)) for (const file of shared) inUse.add(file);
  }
  return inUse;
}
