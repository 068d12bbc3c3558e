import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../packages/server/dist/config/index.js";

/** Where the models of this machine are; a benchmark keeps everything else in a folder of its own. */
async function modelsDir() {
  const { config } = await loadConfig({ env: process.env, flags: {} });
  return config.pool.models_dir;
}

/** A configuration with one model of the catalog; removed by its `remove`. */
export async function writeConfig(model, { slots, initial_tier = "tier1_gpu_vram" }) {
  const folder = await mkdtemp(join(tmpdir(), "somnus-bench-"));
  const file = join(folder, "somnus.toml");
  await writeFile(
    file,
    [
      "config_version = 1",
      "[paths]",
      `data_dir = ${JSON.stringify(folder)}`,
      "[pool]",
      `models_dir = ${JSON.stringify(await modelsDir())}`,
      "[limits]",
      "max_queue_per_model = 64",
      "[[models]]",
      `id = "${model}"`,
      `slots = ${slots}`,
      "context_len = 16384",
      `initial_tier = "${initial_tier}"`,
      "",
    ].join("\n"),
  );
  return { file, remove: () => rm(folder, { recursive: true }) };
}
