import { mkdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeTinyLlama } from "../../../test/gguf/index.js";
import { type LibraryManifest, openLibrary } from "../../models/index.js";
import { temporaryFolder } from "./cli.js";

/** A folder with a configuration and a models folder, to run verbs in. */
export interface ModelsPlace {
  /** Holds `somnus.toml` and the folder `models`. */
  cwd: string;
  modelsDir: string;
}

/** @param toml what the configuration says besides the models folder */
export async function modelsPlace(toml = ""): Promise<ModelsPlace> {
  const cwd = await temporaryFolder();
  const modelsDir = join(cwd, "models");
  await mkdir(modelsDir);
  await writeFile(join(cwd, "somnus.toml"), `[pool]\nmodels_dir = "models"\n${toml}`);
  return { cwd, modelsDir };
}

/** Writes a tiny model to `file` and adds it to the library under `id`. @returns its bytes */
export async function addModel(
  { modelsDir }: ModelsPlace,
  id: string,
  file: string,
  more: Partial<LibraryManifest> = {},
): Promise<number> {
  await writeTinyLlama(file);
  const { size } = await stat(file);
  const isOurs = file.startsWith(modelsDir);
  const path = isOurs ? basename(file) : file;
  await openLibrary(modelsDir).add({
    manifest_version: 1,
    ...{ id, quant: "F32", modality: "text_generation", additional_modalities: [] },
    ...{ engine: "ggml_llama", architecture: "llama", license: "mit", untested: true },
    origin: { type: "huggingface", repo: "maker/tiny", revision: "0123456789abcdef" },
    files: [{ role: "weights", path, size, sha256: null, ours: isOurs }],
    added_at: "2026-01-02T03:04:05Z",
    ...more,
  });
  return size;
}
