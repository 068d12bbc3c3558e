import { lstat, readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Artifacts, withLock } from "../../artifacts/index.js";
import {
  artifactOf,
  type Catalog,
  type CatalogFile,
  type CatalogVariant,
  type ConvertedFile,
  isConverted,
} from "../catalog/index.js";
import { removeParts, tracesOf } from "../library/index.js";
import { inputsFolder, inputsLock, inputsRoot } from "./inputs.js";
import { isInstalled } from "./install.js";
import { packagesFolder, removePackages } from "./packages.js";

/** What became of a file of a removed variant. */
export interface RemovedFile {
  file: string;
  /** Bytes it had; 0 when it was not there. */
  size: number;
  /** False: another installed variant uses it, or it is the user's own, so it stays. */
  removed: boolean;
}

/** What is here of a variant that is not installed: of a pull or a conversion that was stopped. */
export interface VariantRemains {
  /** The files that were to be, absolute, of which something is here. */
  files: string[];
  /** Bytes that are here of them, of what they are made of and of their packages. */
  size: number;
}

/**
 * Looks for what a stopped pull left of a variant. A file that stands under one of its names without having been
 * brought here is no part of it, nor is what others use.
 */
export async function variantRemains(
  variant: CatalogVariant,
  modelsDir: string,
  used: ReadonlySet<string>,
): Promise<VariantRemains> {
  const remains: VariantRemains = { files: [], size: 0 };
  for (const file of variant.files) {
    const path = join(modelsDir, file.file);
    if (used.has(path)) continue;
    const { whole, parts, size } = await tracesOf(path);
    const inputs = isConverted(file) ? await bytesIn(inputsFolder(modelsDir, file)) : null;
    if (whole !== "ours" && parts.length === 0 && inputs === null) continue;
    remains.files.push(path);
    remains.size += size + (inputs ?? 0);
  }
  const packages = await bytesIn(packagesFolder(variant, modelsDir));
  if (packages !== null && remains.files.length === 0) {
    remains.files.push(join(modelsDir, variant.files[0]!.file));
  }
  remains.size += packages ?? 0;
  return remains;
}

/** Bytes of all files in a folder; null when there is none. */
async function bytesIn(folder: string): Promise<number | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  let size = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    size += await lstat(join(entry.parentPath, entry.name)).then(
      (found) => found.size,
      () => 0,
    );
  }
  return size;
}

/**
 * Removes the files of a variant from the models folder, with their receipts and whatever an unfinished fetch
 * or conversion left of them. Files that another installed variant of the catalog uses stay, those of `keep`, and
 * one that stands under a name of the variant's without being its file or having been brought here.
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
    const isUsed = inUse.has(file.file) || keep?.has(path) === true;
    const isOthers = !isUsed && (await isForeign(file, artifacts, modelsDir));
    if (isOthers) await removeParts(path);
    else if (!isUsed) await artifacts.forget(path);
    if (!isUsed && isConverted(file)) await removeInputs(file, modelsDir);
    done.push({ file: file.file, size, removed: !isUsed && !isOthers });
  }
  await removePackages(variant, modelsDir);
  return done;
}

/** Whether a file of the user's own stands under the name of a file of the catalog. */
async function isForeign(
  file: CatalogFile,
  artifacts: Artifacts,
  modelsDir: string,
): Promise<boolean> {
  if ((await tracesOf(join(modelsDir, file.file))).whole !== "foreign") return false;
  const spec = artifactOf(file);
  // The right bytes are the model, whoever put them there; without a hash nobody can tell.
  return spec.sha256 === null || (await artifacts.installed(spec, modelsDir)) === null;
}

async function removeInputs(file: ConvertedFile, modelsDir: string): Promise<void> {
  const folder = inputsFolder(modelsDir, file);
  const lock = inputsLock(modelsDir, file);
  const there = await Promise.all([folder, lock].map((path) => stat(path).catch(() => null)));
  if (there.some((found) => found !== null)) {
    // The lock of a killed conversion goes with whoever takes it next.
    await withLock(lock, { signal: new AbortController().signal }, () =>
      rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    );
  }
  await rmdir(inputsRoot(modelsDir)).catch(() => {});
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
