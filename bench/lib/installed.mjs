import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { createArtifacts } from "../../packages/server/dist/artifacts/index.js";
import { enginesFolder, loadConfig } from "../../packages/server/dist/config/index.js";
import {
  configuredOrigins,
  createProvisioning,
} from "../../packages/server/dist/engines/provisioning/index.js";
import { readGgufModel } from "../../packages/server/dist/gguf/index.js";
import { createLog } from "../../packages/server/dist/observe/index.js";

const LATER_PART = /-(?!00001)\d{5}-of-\d{5}\.gguf$/;

/** The engine and every GGUF model that this machine has, as the configuration finds them. */
export async function installed() {
  const { config } = await loadConfig({ env: process.env, flags: {} });
  const log = createLog("silent");
  const provisioning = createProvisioning({
    cacheDir: enginesFolder(config),
    ...configuredOrigins(config.engines.llama),
    sourceBuild: true,
    releaseBuild: false,
    env: process.env,
    artifacts: createArtifacts({ env: process.env, log }),
    log,
  });
  const binary = await provisioning.provide(() => {}, new AbortController().signal);
  const folder = config.pool.models_dir;
  const names = await readdir(folder, { recursive: true });
  const models = [];
  for (const name of names.filter((one) => one.endsWith(".gguf") && !LATER_PART.test(one)).sort()) {
    const path = join(folder, name);
    const gguf = await readGgufModel(path);
    if (gguf.projector !== null) continue;
    models.push({ name: relative(folder, path), path, gguf });
  }
  return { engine: binary, models };
}
