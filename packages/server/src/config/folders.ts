import { join, resolve } from "node:path";
import type { Config } from "./schema/index.js";

/** The folder that engines are installed and built in; absolute. */
export function enginesFolder(config: Config): string {
  return join(config.paths.cache_dir, "engines");
}

/** A model's file made absolute: `weights_path` and its like count from the models folder. */
export function modelFilePath(config: Config, path: string): string {
  return resolve(config.pool.models_dir, path);
}
