import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../packages/server/dist/config/index.js";

/** Where the models of this machine are; a benchmark keeps everything else in a folder of its own. */
async function modelsDir() {
  const { config } = await loadConfig({ env: process.env, flags: {} });
  return config.pool.models_dir;
}

/**
 * A configuration with these models of the catalog; removed by its `remove`.
 * @param {string | string[]} models
 * @param {{ slots: number, initial_tier?: string, hardware?: Record<string, number> }} settings
 */
export async function writeConfig(
  models,
  { slots, initial_tier = "tier1_gpu_vram", hardware = {} },
) {
  const folder = await mkdtemp(join(tmpdir(), "somnus-bench-"));
  const file = join(folder, "somnus.toml");
  const lines = [
    "config_version = 1",
    "[paths]",
    `data_dir = ${JSON.stringify(folder)}`,
    "[pool]",
    `models_dir = ${JSON.stringify(await modelsDir())}`,
    "[limits]",
    "max_queue_per_model = 64",
    "[hardware]",
    ...Object.entries(hardware).map(([key, value]) => `${key} = ${value}`),
  ];
  for (const model of [models].flat()) {
    lines.push(
      "[[models]]",
      `id = "${model}"`,
      `slots = ${slots}`,
      "context_len = 16384",
      `initial_tier = "${initial_tier}"`,
    );
  }
  await writeFile(file, `${lines.join("\n")}\n`);
  return { file, remove: () => rm(folder, { recursive: true }) };
}
