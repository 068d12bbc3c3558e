import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { freeBytes, storageAdvice, withLock } from "../../artifacts/index.js";
import { partName, readGguf } from "../../gguf/index.js";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import type { Library, LibraryFile, LibraryManifest } from "../library/index.js";
import type { FoundFile, FoundModel } from "./found.js";
import { identityOf } from "./identity.js";
import { fileStemOf } from "./names.js";
import { readThrough } from "./read-through.js";

/**
 * What becomes of a model's files: they are used where they are, get another name in the models
 * folder (a hard link, no further bytes), or are copied there.
 */
export type Manner = "in place" | "link" | "copy";

/** How a found model is to be taken. */
export interface ImportOptions {
  library: Library;
  /** Absolute. */
  modelsDir: string;
  id: string;
  manner: Manner;
  /** Whether every byte is read and compared with what the tool's bookkeeping says. */
  verify: boolean;
  /** Architectures that were run with this version. */
  testedArchitectures: ReadonlySet<string>;
  on: OnProgress;
  signal: AbortSignal;
}

/** A model that was taken. */
export interface ImportedModel {
  manifest: LibraryManifest;
  /** What was done; not always what was asked for. */
  manner: Manner;
  /** Why it is not what was asked for; a sentence, or null. */
  note: string | null;
}

/**
 * Adds a found model to the library, under `options.id`. Every GGUF header is read again first.
 * Where a hard link cannot be made the files are used in place, and `note` says why; nothing is
 * copied unless `copy` was asked for. What fails or is cancelled leaves nothing behind.
 *
 * @throws SomnusError model_unavailable when a file is broken, is not what its tool says, or cannot
 *   be linked or stored; the signal's reason when aborted
 */
export async function importModel(
  model: FoundModel,
  options: ImportOptions,
): Promise<ImportedModel> {
  const { signal } = options;
  for (const { path } of model.files) await readGguf(path, signal);
  if (options.manner === "in place") return await takeInPlace(model, options, null);
  const { modelsDir } = options;
  try {
    await mkdir(modelsDir, { recursive: true });
    return await withLock(join(modelsDir, ".import.lock"), { signal }, () =>
      takeIntoFolder(model, options),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SomnusError) throw error;
    throw new SomnusError(
      "model_unavailable",
      `${model.name} cannot be stored in ${modelsDir}: ${(error as Error).message}. ${storageAdvice(error)}`,
      { cause: error },
    );
  }
}

async function takeInPlace(
  model: FoundModel,
  options: ImportOptions,
  note: string | null,
): Promise<ImportedModel> {
  if (model.needsOwnNames) {
    throw refusal(
      model,
      `is in several parts whose names the engine does not follow. ${note === null ? "Give them names with --link (no copy is made), or copy them with --copy" : `${note} Copy them with --copy`}`,
    );
  }
  const sums = options.verify ? await checkAll(model, options) : null;
  const files = model.files.map((file, index): LibraryFile => {
    const { role, size } = file;
    return { role, path: resolve(file.path), size, sha256: sums?.[index] ?? null, ours: false };
  });
  return await register(model, files, options, "in place", note);
}

async function takeIntoFolder(model: FoundModel, options: ImportOptions): Promise<ImportedModel> {
  const { modelsDir, signal } = options;
  await removeLeftovers(modelsDir);
  if (options.manner === "copy") await requireSpace(model, modelsDir);
  const stem = await freeStem(model, modelsDir, fileStemOf(options.id));
  const made: string[] = [];
  const files: LibraryFile[] = [];
  const progress = startProgress(model, options);
  try {
    for (const [index, file] of model.files.entries()) {
      signal.throwIfAborted();
      const name = nameOf(file, stem);
      const target = join(modelsDir, name);
      const isThere = (await identityOf(target)) === (await identityOf(file.path));
      let sha256: string | null = null;
      if (options.manner === "copy") {
        sha256 = await copyFile(file, target, progress, signal);
        made.push(target);
      } else {
        if (!isThere) {
          await link(await realpath(file.path), target);
          made.push(target);
        }
        if (options.verify) sha256 = await readThrough(target, null, progress, signal);
      }
      if (sha256 !== null) checkSum(model, index, sha256);
      files.push({ role: file.role, path: name, size: file.size, sha256, ours: true });
    }
    return await register(model, files, options, options.manner, null);
  } catch (error) {
    for (const path of made) await rm(path, { force: true });
    const reason = options.manner === "link" ? linkProblem(error) : null;
    if (reason !== null) return await takeInPlace(model, options, reason);
    throw error;
  }
}

/** Why a hard link could not be made, a sentence; null for another failure. */
function linkProblem(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EXDEV") {
    return "The models folder is on another file system, which a hard link cannot reach.";
  }
  if (code === "EPERM" || code === "EACCES") {
    return "This user may not make a hard link to files of another one, or the file system has none.";
  }
  if (code === "ENOTSUP" || code === "ENOSYS" || code === "EMLINK") {
    return "The file system makes no (further) hard links.";
  }
  return null;
}

async function requireSpace(model: FoundModel, modelsDir: string): Promise<void> {
  const free = await freeBytes(modelsDir);
  if (free >= model.size) return;
  throw refusal(
    model,
    `needs ${model.size} bytes in ${modelsDir}, where ${free} are free. Use it where it is (without --copy), or free some space`,
  );
}

/** Copies a file under a name of its own first; gives the SHA-256 of what was written. */
async function copyFile(
  file: FoundFile,
  target: string,
  reached: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const draft = join(dirname(target), `.import-${randomBytes(6).toString("hex")}.part`);
  try {
    const handle = await open(draft, "wx");
    try {
      const sha256 = await readThrough(file.path, handle, reached, signal);
      await handle.sync();
      await handle.close();
      await rename(draft, target);
      return sha256;
    } finally {
      await handle.close().catch(() => {});
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes what a killed process left; only called under the lock. */
async function removeLeftovers(modelsDir: string): Promise<void> {
  for (const name of await readdir(modelsDir)) {
    if (/^\.import-[0-9a-f]{12}\.part$/.test(name))
      await rm(join(modelsDir, name), { force: true });
  }
}

/** The first of `stem`, `stem-2`, ... under which nothing else lies in the models folder. */
async function freeStem(model: FoundModel, modelsDir: string, stem: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? stem : `${stem}-${number}`;
    let isFree = true;
    for (const file of model.files) {
      const target = join(modelsDir, nameOf(file, candidate));
      const there = await identityOf(target);
      if (there !== null && there !== (await identityOf(file.path))) isFree = false;
    }
    if (isFree) return candidate;
  }
}

function nameOf(file: FoundFile, stem: string): string {
  if (file.role === "aux") return `${stem}.mmproj.gguf`;
  return file.part === null ? `${stem}.gguf` : partName(stem, file.part.number, file.part.count);
}

async function checkAll(model: FoundModel, options: ImportOptions): Promise<string[]> {
  const progress = startProgress(model, options);
  const sums: string[] = [];
  for (const [index, { path }] of model.files.entries()) {
    const sum = await readThrough(path, null, progress, options.signal);
    checkSum(model, index, sum);
    sums.push(sum);
  }
  return sums;
}

function checkSum(model: FoundModel, index: number, sha256: string): void {
  const { path, claimedSha256 } = model.files[index]!;
  if (claimedSha256 === null || claimedSha256 === sha256) return;
  throw refusal(
    model,
    `is damaged: the SHA-256 of ${path} is ${sha256}, and should be ${claimedSha256}. Let ${model.tool} fetch it again`,
  );
}

function startProgress(model: FoundModel, options: ImportOptions): (bytes: number) => void {
  const step = options.manner === "copy" ? `copying ${model.name}` : `checking ${model.name}`;
  let done = 0;
  return (bytes) => {
    done += bytes;
    options.on({ step, done, total: model.size, unit: "bytes" });
  };
}

async function register(
  model: FoundModel,
  files: LibraryFile[],
  options: ImportOptions,
  manner: Manner,
  note: string | null,
): Promise<ImportedModel> {
  const { library, id, testedArchitectures, signal } = options;
  signal.throwIfAborted();
  const isTested = model.architecture !== null && testedArchitectures.has(model.architecture);
  const manifest: LibraryManifest = {
    manifest_version: 1,
    id,
    quant: model.quant,
    modality: model.modality,
    additional_modalities: model.additionalModalities,
    engine: "ggml_llama",
    architecture: model.architecture,
    license: model.license,
    untested: model.caution !== null || !isTested,
    origin: { type: "import", tool: model.tool, location: model.location },
    files,
    added_at: new Date().toISOString(),
  };
  // A file that shrank or went since it was found would be served as if it were whole.
  for (const { path } of model.files) await stat(path);
  await library.add(manifest);
  return { manifest, manner, note };
}

function refusal(model: FoundModel, problem: string): SomnusError {
  return new SomnusError("model_unavailable", `${model.name} ${problem}.`);
}
