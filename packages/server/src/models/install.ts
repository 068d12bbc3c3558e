import type { Artifacts } from "../artifacts/index.js";
import type { OnProgress } from "../observe/index.js";
import { artifactOf, type CatalogVariant } from "./catalog.js";

/** Fetches what is missing of a variant into the models folder. @throws SomnusError */
export async function installVariant(
  variant: CatalogVariant,
  options: { artifacts: Artifacts; modelsDir: string; on: OnProgress; signal: AbortSignal },
): Promise<void> {
  for (const file of variant.files) {
    await options.artifacts.fetch(artifactOf(file), options.modelsDir, options.on, options.signal);
  }
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
