import { posix } from "node:path";
import type { InputFiles } from "../converter.js";
import { quoted, refusalOf, shown } from "../refusal.js";
import { readJson, settingsOf } from "../settings-file.js";
import { POOLING_FILE } from "./pooling.js";

export const MODULES_FILE = "modules.json";

/** The steps that a model takes after its encoder. */
export interface Modules {
  /** Name of the file with the settings of the pooling. */
  readonly poolingFile: string;
  readonly notes: readonly string[];
}

const NOT_NORMALIZED =
  "The model does not scale its vectors to length 1, but engines do; cosine similarities are the same.";

/** Kinds of a module, the last part of its class's name, in the only order that an engine computes. */
const ORDER = ["Transformer", "Pooling", "Normalize"];

/**
 * Reads modules.json. Without one the library adds a pooling and nothing else.
 * @throws SomnusError `model_unavailable` naming a module that an engine does not compute
 */
export async function readModules(files: InputFiles): Promise<Modules> {
  if (!files.has(MODULES_FILE)) return { poolingFile: POOLING_FILE, notes: [NOT_NORMALIZED] };
  const refuse = refusalOf(MODULES_FILE);
  const list = await readJson(files, MODULES_FILE);
  if (!Array.isArray(list)) throw refuse(`is ${shown(list)}, not a list`);
  let poolingFile: string | null = null;
  const kinds = list.map((entry: unknown) => {
    const module = settingsOf(entry, refuse);
    const kind = (module.text("type") ?? "").split(".").at(-1) ?? "";
    if (!ORDER.includes(kind)) {
      throw refuse(
        `has a module ${quoted(kind)}, which is not supported: an engine computes encoder, pooling and normalization only`,
      );
    }
    if (kind === "Transformer" && (module.text("path") ?? "") !== "") {
      throw refuse("keeps the encoder in a folder within, which is not supported");
    }
    if (kind === "Pooling") poolingFile = posix.join(module.text("path") ?? "", "config.json");
    return kind;
  });
  if (poolingFile === null || kinds.join() !== ORDER.slice(0, kinds.length).join()) {
    throw refuse(`has the modules ${kinds.join(", ")}, not encoder, pooling and normalization`);
  }
  return { poolingFile, notes: kinds.includes("Normalize") ? [] : [NOT_NORMALIZED] };
}
