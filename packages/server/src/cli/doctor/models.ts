import { stat } from "node:fs/promises";
import { createArtifacts } from "../../artifacts/index.js";
import { type Config, modelFilePath } from "../../config/index.js";
import {
  isInstalled,
  type LibraryManifest,
  libraryFilePath,
  openLibrary,
  readCatalog,
} from "../../models/index.js";
import { type Finding, fail, ok, warn } from "./finding.js";

/** Whether there is a model to serve. */
export async function checkModels(config: Config, env: NodeJS.ProcessEnv): Promise<Finding> {
  for (const block of config.models) {
    if (!block.enabled || block.weights_path === undefined) continue;
    const file = modelFilePath(config, block.weights_path);
    if (!(await isThere(file))) {
      return fail("models", `${block.id}: there is no ${file}`, "Correct its weights_path.");
    }
  }
  const modelsDir = config.pool.models_dir;
  const here = new Set(config.models.filter((block) => block.enabled).map((block) => block.id));
  for (const id of await installedIds(modelsDir, env)) here.add(id);
  const library = openLibrary(modelsDir);
  for (const manifest of await library.list()) {
    const gone = await missingFile(manifest, modelsDir);
    if (gone !== null) {
      return warn(
        "models",
        `${manifest.id}: there is no ${gone}`,
        `Put it back, or forget the model: somnus rm ${manifest.id}`,
      );
    }
    here.add(manifest.id);
  }
  const [broken] = await library.broken();
  if (broken !== undefined) {
    return warn(
      "models",
      `${broken.file} in ${library.folder} cannot be used: ${broken.reason}`,
      "Correct or delete it.",
    );
  }
  if (here.size > 0) return ok("models", [...here].join(", "));
  return warn(
    "models",
    "none installed",
    config.pool.preload
      ? "The first `somnus serve` brings the starter model; others: somnus catalog"
      : "Fetch one: somnus catalog, then somnus pull ID",
  );
}

/** The models of the catalog that are here in one variant or another. */
async function installedIds(modelsDir: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const artifacts = createArtifacts({ env });
  const ids: string[] = [];
  for (const model of (await readCatalog()).models) {
    for (const variant of model.variants) {
      if (ids.includes(model.id)) continue;
      if (await isInstalled(variant, artifacts, modelsDir)) ids.push(model.id);
    }
  }
  return ids;
}

/** A file of the model that is not where its manifest says; null when all are. */
async function missingFile({ files }: LibraryManifest, modelsDir: string): Promise<string | null> {
  for (const file of files) {
    const path = libraryFilePath(modelsDir, file);
    if (!(await isThere(path))) return path;
  }
  return null;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
