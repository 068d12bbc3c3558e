import { stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { createArtifacts } from "../artifacts/index.js";
import { modelIdProblem } from "../config/index.js";
import {
  addConverted,
  type Catalog,
  converters,
  convert as convertModel,
  findConverter,
  findInCatalog,
  openLibrary,
  readCatalog,
} from "../models/index.js";
import { CliFailure, EXIT, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { nextStep, untestedNote } from "./next-step.js";
import { bytesText } from "./quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";
import { tellWork } from "./teller.js";

export interface ConvertOptions extends CommonOptions {
  to?: string;
  type?: string;
  out?: string;
  id?: string;
  json?: boolean;
}

/**
 * `somnus convert FOLDER`: makes a GGUF file of a model that no engine loads as it is, and takes it
 * into the library. With `--out` and no `--id` only the file is made.
 */
export async function convert(io: Io, options: ConvertOptions, args: string[]): Promise<number> {
  const { config } = await loadSettings(io, options);
  const folder = resolve(io.cwd, args[0]!);
  const modelsDir = config.pool.models_dir;
  const isOnlyFile = options.out !== undefined && options.id === undefined;
  const id = isOnlyFile ? null : (options.id ?? idOf(folder));
  const problem = id === null ? null : modelIdProblem(id);
  if (problem !== null) {
    throw usageError(`The id ${JSON.stringify(id)} ${problem}.`, "Name another one with --id.");
  }
  const catalog = await readCatalog();
  if (id !== null) await requireFree(id, catalog, modelsDir);
  const converter = await converterOf(folder);
  const type = typeOf(converter, options.type);
  const name = `${(id ?? idOf(folder)).replace(/[^A-Za-z0-9._-]+/g, "-")}-${type.toLowerCase()}.gguf`;
  const out = options.out === undefined ? join(modelsDir, name) : resolve(io.cwd, options.out);

  const stopping = {
    message: "Stopped.",
    advice: "Nothing was stored; the same command begins anew.",
  };
  return tellWork(io, { json: options.json === true, stopping }, async (tell, signal) => {
    const about = { name: basename(folder) };
    const made = await convertModel({
      ...{ converter, folder, out, type, about, signal },
      on: (progress) => tell.progress(id ?? out, progress),
    });
    for (const text of made.notes) tell.say("note", { id, text }, text);
    const facts = { id, converter: made.converter, type, architecture: made.architecture };
    const file = { path: made.path, size: made.size, sha256: made.sha256 };
    const size = bytesText(made.size);
    if (id === null) {
      tell.say("done", { ...facts, file }, `${made.path} is made: ${type}, ${size}.`);
      return EXIT.ok;
    }
    const artifacts = createArtifacts({ env: serverEnvironment(io.env) });
    const { modality, untested } = await addConverted(made, {
      id,
      from: folder,
      modelsDir,
      catalog,
      artifacts,
    });
    if (untested) tell.say("note", { id, text: untestedNote(id) }, untestedNote(id));
    const text = `${io.out.paint.bold(id)} (${type}, ${size}) is installed as ${made.path}.`;
    tell.say("done", { ...facts, file }, `${text}${nextStep(config, { id, modality })}`);
    return EXIT.ok;
  });
}

/** @throws CliFailure when another model has the id; one that was converted before is replaced */
async function requireFree(id: string, catalog: Catalog, modelsDir: string): Promise<void> {
  const other = await openLibrary(modelsDir).find(id);
  if (findInCatalog(catalog, id) !== null) {
    throw usageError(`${id} is a model of the catalog.`, "Name another id with --id.");
  }
  if (other !== null && other.origin.type !== "convert") {
    throw usageError(
      `There is another model ${id} already.`,
      `Name another id with --id, or remove that one first: somnus rm ${id}`,
    );
  }
}

/** @throws CliFailure when the folder is none, or holds no model that can be converted */
async function converterOf(folder: string) {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) {
    throw new CliFailure(`${folder} is ${found === null ? "not there" : "no folder"}.`, {
      advice: "Name the folder that holds the model's files, config.json among them.",
    });
  }
  const converter = await findConverter(folder);
  if (converter !== null) return converter;
  const known = converters.map(({ from, to }) => `${from} -> ${to}`);
  throw new CliFailure(`No converter knows the model in ${folder}.`, {
    advice: `There is: ${known.join("; ")}. For other models look for a repository with GGUF in its name: somnus pull OWNER/REPO`,
  });
}

function typeOf(converter: { id: string; types: readonly string[] }, given?: string): string {
  if (given === undefined) return converter.types[0]!;
  const type = converter.types.find((one) => one.toLowerCase() === given.toLowerCase());
  if (type !== undefined) return type;
  throw usageError(
    `${converter.id} cannot make ${given}.`,
    `It makes ${converter.types.join(", ")}; choose with --type.`,
  );
}

/** The folder's name as an id. */
function idOf(folder: string): string {
  const name = basename(folder).toLowerCase();
  return name.replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+|-+$/g, "");
}
