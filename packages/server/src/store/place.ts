import { join } from "node:path";
import type { Config } from "../config/index.js";

/**
 * The store's file, absolute: in a folder of its own in `paths.data_dir`, because what it holds
 * (usage, measurements) should be kept and belongs to the models beside it, and because SQLite
 * puts further files next to it.
 */
export function storeFile(config: Config): string {
  return join(config.paths.data_dir, "store", "somnus.db");
}
