import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A configuration with one model of the catalog; removed by its `remove`. */
export async function writeConfig(model, { slots, initial_tier = "tier1_gpu_vram" }) {
  const folder = await mkdtemp(join(tmpdir(), "somnus-bench-"));
  const file = join(folder, "somnus.toml");
  await writeFile(
    file,
    [
      "config_version = 1",
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
