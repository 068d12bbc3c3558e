import { join } from "node:path";
import { type Artifacts, holderText } from "../../artifacts/index.js";
import type { OnProgress } from "../../observe/index.js";
import {
  artifactOf,
  type CatalogFile,
  type CatalogVariant,
  isConverted,
} from "../catalog/index.js";
import { openPulls } from "../library/index.js";
import { convertFile } from "./convert-file.js";
import { FILES_AT_ONCE, inParallel } from "./in-parallel.js";
import type { InstallOptions } from "./options.js";
import { withPackages } from "./packages.js";
import { pullKeyOf } from "./pull-key.js";
import { requireNoOther } from "./require-no-other.js";
import { requireRoom } from "./room.js";

/**
 * Brings what is missing of a variant into the models folder, several files at once, and makes what is to be
 * converted. A package with several of the files is downloaded once. What was verified stays, so a later call goes on where this one ended, however it ended.
 * @throws SomnusError model_unavailable when a file cannot be had, made or stored; the signal's reason when aborted
 */
export async function installVariant(
  variant: CatalogVariant,
  options: InstallOptions,
): Promise<void> {
  const { artifacts, modelsDir, on, signal } = options;
  const wanted = await missingOf(variant, artifacts, modelsDir);
  if (wanted.length === 0) return;
  for (const { file } of wanted) await requireNoOther(join(modelsDir, file), file);
  await requireRoom(wanted, artifacts, modelsDir);
  const key = pullKeyOf(variant);
  const onWait = (holder: { pid: number } | null) =>
    on({
      step: `waiting for ${holderText(holder)} to fetch ${key}`,
      file: key,
      done: 0,
      unit: "bytes",
    });
  const pull = { key, files: variant.files.map(({ file }) => file) };
  await openPulls(modelsDir).during(pull, { signal, onWait }, async () => {
    // Another process may have brought or removed some of them until now.
    const missing = await missingOf(variant, artifacts, modelsDir);
    await withPackages(variant, options, (packages) =>
      inParallel(missing, FILES_AT_ONCE, signal, async (file, within) => {
        const hear: OnProgress = (progress) => on({ file: file.file, ...progress });
        const now = { ...options, on: hear, signal: within };
        if (isConverted(file)) await convertFile(file, now, packages);
        else await artifacts.fetch(artifactOf(file), modelsDir, hear, within, packages);
      }),
    );
  });
}

async function missingOf(
  { files }: CatalogVariant,
  artifacts: Artifacts,
  modelsDir: string,
): Promise<CatalogFile[]> {
  const missing: CatalogFile[] = [];
  for (const file of files) {
    if (!(await artifacts.installed(artifactOf(file), modelsDir))) missing.push(file);
  }
  return missing;
}

/** Whether every file of a variant is in the models folder and was verified. */
export async function isInstalled(
  variant: CatalogVariant,
  artifacts: Artifacts,
  modelsDir: string,
): Promise<boolean> {
  for (const file of variant.files) {
    if (!(await artifacts.installed(artifactOf(file), modelsDir))) return false;
  }
  return true;
}
