import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { holderText, type SharedPackages, withLock } from "../../artifacts/index.js";
import { syncFolder } from "../../files/index.js";
import type { OnProgress } from "../../observe/index.js";
import { artifactOf, type ConvertedFile } from "../catalog/index.js";
import { convert } from "../convert/index.js";
import { FILES_AT_ONCE, inParallel } from "./in-parallel.js";
import { inputPath, inputsFolder, inputsLock, inputsRoot } from "./inputs.js";
import type { InstallOptions } from "./options.js";

/**
 * Makes a file of the catalog: fetches its inputs, converts them, publishes the result and removes the
 * inputs. `packages` are those that its inputs share. Every step leaves what the next call goes on with: the inputs until the result is verified, the
 * verified result until it has its name.
 */
export async function convertFile(
  file: ConvertedFile,
  options: InstallOptions,
  packages: SharedPackages | null,
): Promise<void> {
  const { artifacts, modelsDir, on, signal } = options;
  const root = inputsRoot(modelsDir);
  const onWait = (holder: { pid: number } | null) =>
    on({
      step: `waiting for ${holderText(holder)} to make ${file.file}`,
      file: file.file,
      done: 0,
      total: file.size,
      unit: "bytes",
    });
  await withLock(inputsLock(modelsDir, file), { signal, onWait }, async () => {
    const folder = inputsFolder(modelsDir, file);
    const spec = artifactOf(file);
    if (!(await artifacts.installed(spec, modelsDir))) {
      if (!(await artifacts.installed(spec, folder))) {
        await make(file, folder, options, packages);
      }
      await removeAllBut(file.file, folder);
      await publish(join(folder, file.file), join(modelsDir, file.file));
      await artifacts.adopt(join(modelsDir, file.file), {
        sha256: file.sha256,
        source: `converted by ${file.convert.converter}`,
      });
    }
    await rm(folder, { recursive: true, force: true });
  });
  // It stays where another conversion is under way.
  await rmdir(root).catch(() => {});
}

async function make(
  file: ConvertedFile,
  folder: string,
  { artifacts, modelsDir, converters, on, signal }: InstallOptions,
  packages: SharedPackages | null,
): Promise<void> {
  const { converter, type, about, inputs } = file.convert;
  await inParallel(inputs, FILES_AT_ONCE, signal, async (input, within) => {
    const path = inputPath(modelsDir, file, input);
    // Two inputs may have the same name in different folders.
    const hear: OnProgress = (progress) => on({ ...progress, file: input.file });
    await artifacts.fetch(artifactOf(input), dirname(path), hear, within, packages);
  });
  await convert({
    converter: converters?.find((one) => one.id === converter) ?? converter,
    files: new Map(inputs.map((input) => [input.file, inputPath(modelsDir, file, input)])),
    out: join(folder, file.file),
    type,
    about,
    expected: { size: file.size, sha256: file.sha256 },
    on,
    signal,
  });
}

/** Makes room for what comes next; the finished file is all that is still wanted here. */
async function removeAllBut(kept: string, folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== kept) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Gives the verified file its name, so that it survives a power cut from here on. */
async function publish(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}
