import { basename, relative, sep } from "node:path";
import type { Artifacts } from "../artifacts/index.js";
import { readGgufModel } from "../gguf/index.js";
import { type Catalog, testedArchitectures } from "./catalog/index.js";
import type { Conversion } from "./convert/index.js";
import { useOf } from "./hub/describe.js";
import { type LibraryManifest, openLibrary } from "./library/index.js";

/**
 * Notes a GGUF file that was made here in the library, in place of an older model of the same id.
 * A file outside the models folder is used where it is and stays the user's own.
 *
 * @throws SomnusError model_unavailable when the file cannot be read or the library cannot be written
 */
export async function addConverted(
  conversion: Conversion,
  options: {
    id: string;
    /** What was converted: the folder. */
    from: string;
    modelsDir: string;
    catalog: Catalog;
    artifacts: Artifacts;
  },
): Promise<LibraryManifest> {
  const { path, converter, size, sha256, architecture } = conversion;
  const gguf = await readGgufModel(path);
  const { modality, additionalModalities } = useOf(gguf, null);
  const inside = relative(options.modelsDir, path).split(sep).join("/");
  const isOurs = inside === basename(path);
  if (isOurs) {
    await options.artifacts.adopt(path, { sha256, source: `converted from ${options.from}` });
  }
  const manifest: LibraryManifest = {
    manifest_version: 1,
    id: options.id,
    quant: gguf.quantization ?? conversion.type,
    modality,
    additional_modalities: additionalModalities,
    engine: "ggml_llama",
    architecture,
    license: gguf.license,
    untested: !testedArchitectures(options.catalog).includes(architecture),
    origin: { type: "convert", converter, from: options.from },
    files: [{ role: "weights", path: isOurs ? inside : path, size, sha256, ours: isOurs }],
    added_at: new Date().toISOString(),
  };
  await openLibrary(options.modelsDir).add(manifest);
  return manifest;
}
