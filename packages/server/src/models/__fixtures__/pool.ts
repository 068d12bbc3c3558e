import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Artifacts } from "../../artifacts/index.js";
import { type Config, filledModel, type ModelConfig } from "../../config/index.js";
import type { Catalog } from "../index.js";
import { Pool } from "../index.js";

/** The one model of the catalog, and the name of its file. */
export const CATALOG_ID = "small:1b";
export const CATALOG_FILE = "small.gguf";

const CATALOG: Catalog = {
  catalog_version: 1,
  models: [
    {
      id: CATALOG_ID,
      name: "Small",
      publisher: "Somebody",
      license: "Apache-2.0",
      architecture: "llama",
      modality: "text_generation",
      engine: "ggml_llama",
      capabilities: [],
      summary: "Small.",
      verified: true,
      starter: true,
      variants: [
        {
          quant: "Q4_0",
          files: [
            {
              role: "weights",
              file: CATALOG_FILE,
              size: 1,
              sha256: "0".repeat(64),
              sources: [{ type: "https", url: "https://example.org/small.gguf" }],
            },
          ],
        },
      ],
    },
  ],
};

/** What a test says of the configuration. */
export interface PoolSettings {
  models?: (Partial<ModelConfig> & { id: string })[];
  aliases?: Record<string, string>;
  defaultModel?: string;
  /** Whether the catalog's file is there and good. */
  isInstalled?: () => Promise<boolean>;
}

/** A pool over a folder of its own. Its clock stands at 1000 and goes on by one at each look. */
export async function createPool(settings: PoolSettings) {
  const modelsDir = await mkdtemp(join(tmpdir(), "somnus-pool-"));
  const artifacts = {
    installed: async () => ((await settings.isInstalled?.()) ? {} : null),
  } as unknown as Artifacts;
  const config = {
    models: (settings.models ?? []).map(filledModel),
    aliases: settings.aliases ?? {},
    pool: {
      serve_installed: true,
      preload: true,
      idle_unload_secs: 900,
      ...(settings.defaultModel === undefined ? {} : { default_model: settings.defaultModel }),
    },
  } as unknown as Config;
  let time = 1_000;
  const pool = new Pool({
    config,
    modelsDir,
    catalog: CATALOG,
    artifacts,
    modelBlock: filledModel,
    now: () => time++,
  });
  return { pool, modelsDir, remove: () => rm(modelsDir, { recursive: true, force: true }) };
}
