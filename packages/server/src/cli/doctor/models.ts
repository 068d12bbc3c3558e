import { stat } from "node:fs/promises";
import { createArtifacts } from "../../artifacts/index.js";
import { type Config, modelFilePath } from "../../config/index.js";
import { isInstalled, readCatalog } from "../../models/index.js";
import { type Finding, fail, ok, warn } from "./finding.js";

/** Whether there is a model to serve. */
export async function checkModels(config: Config, env: NodeJS.ProcessEnv): Promise<Finding> {
  for (const block of config.models) {
    if (!block.enabled || block.weights_path === undefined) continue;
    const file = modelFilePath(config, block.weights_path);
    const there = await stat(file).then(
      () => true,
      () => false,
    );
    if (!there) {
      return fail("models", `${block.id}: there is no ${file}`, "Correct its weights_path.");
    }
  }
  const catalog = await readCatalog();
  const artifacts = createArtifacts({ env });
  const here: string[] = config.models.filter((block) => block.enabled).map((block) => block.id);
  for (const model of catalog.models) {
    for (const variant of model.variants) {
      if (here.includes(model.id)) continue;
      if (await isInstalled(variant, artifacts, config.pool.models_dir)) here.push(model.id);
    }
  }
  if (here.length > 0) return ok("models", here.join(", "));
  return warn(
    "models",
    "none installed",
    config.pool.preload
      ? "The first `somnus serve` brings the starter model; others: somnus list"
      : "Fetch one: somnus list, then somnus pull ID",
  );
}
