import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SomnusError } from "../../http/errors.js";
import { findConverter } from "../convert/index.js";
import {
  type FoundModel,
  type FoundProblem,
  type SearchedFolder,
  TOOLS,
  type Tool,
} from "./found.js";
import { identityOf, joinCopies } from "./identity.js";
import type { Machine } from "./machine.js";
import { freeId, idOf } from "./names.js";
import { readShelf } from "./read-shelf.js";
import { shelfOfFile } from "./single-file.js";
import type { ToolReader } from "./survey.js";
import { gpt4all } from "./tools/gpt4all.js";
import { huggingFace } from "./tools/hugging-face.js";
import { jan } from "./tools/jan.js";
import { llamaCpp } from "./tools/llama-cpp.js";
import { lmStudio } from "./tools/lm-studio.js";
import { ollama } from "./tools/ollama.js";

const READERS: Record<Tool, ToolReader> = {
  "hugging-face": huggingFace,
  "lm-studio": lmStudio,
  "llama.cpp": llamaCpp,
  jan,
  gpt4all,
  ollama,
};

/** A model that is installed here already. */
export interface ModelHere {
  id: string;
  /** Absolute paths of its weights. */
  weights: readonly string[];
  /** Where it was copied or converted from; null for one that came otherwise. */
  location: string | null;
}

/** What a search works with. */
export interface SearchOptions {
  machine: Machine;
  here: readonly ModelHere[];
  /** Whether a found model may get this id; ids that other models have are to be refused. */
  isFreeId: (id: string) => boolean;
  signal: AbortSignal;
  /** Called with each folder before it is looked through. */
  onFolder?: (folder: SearchedFolder) => void;
}

/** What a search found. */
export interface Discovery {
  /** Each model once, by name; the same in other places is among its `copies`. */
  models: FoundModel[];
  problems: FoundProblem[];
  searched: SearchedFolder[];
}

/**
 * Finds the models that other programs have downloaded. Nothing is changed anywhere, and whatever
 * is broken, unreadable or hostile ends among the problems.
 *
 * @throws the signal's reason when aborted
 */
export async function findForeignModels(options: SearchOptions): Promise<Discovery> {
  const { signal } = options;
  const discovery: Discovery = { models: [], problems: [], searched: [] };
  const found: FoundModel[] = [];
  const looked = new Set<string>();
  for (const tool of TOOLS) {
    for (const folder of await READERS[tool].folders(options.machine)) {
      signal.throwIfAborted();
      const identity = (await identityOf(folder)) ?? folder;
      // Two programs that share a folder: the first one's names are as good as the second one's.
      if (looked.has(identity)) continue;
      looked.add(identity);
      const exists = await stat(folder).then(
        (there) => there.isDirectory(),
        () => false,
      );
      const searched = { tool, folder, exists };
      discovery.searched.push(searched);
      options.onFolder?.(searched);
      if (exists) found.push(...(await look(tool, folder, options, discovery.problems)));
    }
  }
  discovery.models = await joinCopies(found, signal);
  await noteImported(discovery.models, options.here);
  giveIds(discovery.models, options.isFreeId);
  discovery.models.sort((a, b) => (a.name < b.name ? -1 : 1));
  return discovery;
}

/**
 * The model that a path names, with the other parts of a split one.
 * @param projector a projector (mmproj) file for it, or null
 * @throws SomnusError model_unavailable that says what is wrong with a file; the signal's reason when
 *   aborted
 */
export async function findForeignFile(
  path: string,
  projector: string | null,
  options: Pick<SearchOptions, "here" | "isFreeId" | "signal">,
): Promise<FoundModel> {
  const { models, problems } = await readShelf(await shelfOfFile(path, projector), options.signal);
  const [model] = models;
  const problem = problems[0]?.problem ?? (model ? null : "It is not a model but a part of one.");
  if (model === undefined || problem !== null) {
    throw new SomnusError("model_unavailable", `${path} cannot be imported: ${problem}`);
  }
  if (projector !== null && !model.files.some((file) => file.path === projector)) {
    const reason = `${projector} is not a projector (mmproj) that fits ${path}.`;
    throw new SomnusError("model_unavailable", reason);
  }
  await noteImported([model], options.here);
  giveIds([model], options.isFreeId);
  return model;
}

async function look(
  tool: Tool,
  folder: string,
  options: SearchOptions,
  problems: FoundProblem[],
): Promise<FoundModel[]> {
  const { signal } = options;
  const survey = await READERS[tool].survey(folder, signal);
  const models: FoundModel[] = [];
  problems.push(...survey.problems.map((one) => ({ tool, ...one })));
  for (const shelf of survey.shelves) {
    const read = await readShelf(shelf, signal);
    models.push(...read.models);
    problems.push(...read.problems.map((one) => ({ tool, ...one })));
  }
  for (const { name, folder: inside } of survey.foldersToConvert) {
    signal.throwIfAborted();
    // A folder that cannot even be looked at is none to offer.
    const converter = await findConverter(inside).catch(() => null);
    if (converter !== null) models.push(await folderToConvert(tool, name, inside, converter.id));
  }
  return models;
}

async function folderToConvert(
  tool: Tool,
  name: string,
  folder: string,
  converter: string,
): Promise<FoundModel> {
  const weights = await stat(join(folder, "model.safetensors")).catch(() => null);
  return {
    ...{ tool, name, id: idOf(name) ?? "model", location: folder, files: [] },
    ...{ size: weights?.size ?? 0, quant: null, architecture: null, license: null },
    ...{ modality: "embeddings", additionalModalities: [], caution: null, needsOwnNames: false },
    ...{ converter, importedAs: null, copies: [] },
  };
}

/** Notes which models are here already: by their files, or by where they were copied from. */
async function noteImported(
  models: readonly FoundModel[],
  here: readonly ModelHere[],
): Promise<void> {
  const byFile = new Map<string, string>();
  const byLocation = new Map<string, string>();
  for (const { id, weights, location } of here) {
    for (const path of weights) {
      const identity = await identityOf(path);
      if (identity !== null) byFile.set(identity, id);
    }
    if (location !== null) byLocation.set(location, id);
  }
  for (const model of models) {
    const all = [model, ...model.copies];
    for (const one of all) {
      const path = one.files[0]?.path;
      const identity = path === undefined ? null : await identityOf(path);
      const id = (identity === null ? null : byFile.get(identity)) ?? byLocation.get(one.location);
      one.importedAs = id ?? null;
    }
    model.importedAs ??= all.find((one) => one.importedAs !== null)?.importedAs ?? null;
  }
}

function giveIds(models: readonly FoundModel[], isFreeId: (id: string) => boolean): void {
  const given = new Set<string>();
  const isFree = (id: string) => !given.has(id.toLowerCase()) && isFreeId(id);
  for (const model of models) {
    for (const one of [model, ...model.copies]) {
      if (one.importedAs !== null) one.id = one.importedAs;
      else one.id = freeId(one.id, one.tool, isFree);
      given.add(one.id.toLowerCase());
    }
  }
}
