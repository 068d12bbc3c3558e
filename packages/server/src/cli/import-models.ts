import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Config, modelIdProblem } from "../config/index.js";
import {
  type Discovery,
  type FoundModel,
  findForeignFile,
  findForeignModels,
  type ImportedModel,
  importModel,
  type Manner,
  type ModelHere,
  machineOf,
  testedArchitectures,
} from "../models/index.js";
import { nearest } from "../spelling/index.js";
import { CliFailure, EXIT, usageError } from "./failure.js";
import { tellDiscovery } from "./import-list.js";
import { type Inventory, takeInventory } from "./inventory.js";
import type { Io } from "./io.js";
import { printable } from "./layout.js";
import { nextStep, untestedNote } from "./next-step.js";
import { bytesText } from "./quantities.js";
import { describe } from "./report-failure.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";
import { type Teller, tellWork } from "./teller.js";

export interface ImportModelsOptions extends CommonOptions {
  all?: boolean;
  link?: boolean;
  copy?: boolean;
  verify?: boolean;
  id?: string;
  mmproj?: string;
  json?: boolean;
}

const STOPPING = {
  message: "Stopped.",
  advice: "What was imported stays; the rest was not begun.",
};

/**
 * `somnus import [NAME|FILE...]`: without a name the list of what other programs have downloaded;
 * with names (or `--all`) takes models into the library.
 * @throws CliFailure when a name means nothing or options contradict each other
 */
export async function importModels(
  io: Io,
  options: ImportModelsOptions,
  names: string[],
): Promise<number> {
  refuseContradictions(options, names);
  const { config } = await loadSettings(io, options);
  const inventory = await takeInventory(io, config);
  const context = await contextOf(io, inventory, config);
  if (names.length === 0 && !options.all) {
    return await tellWork(io, { json: false, stopping: STOPPING }, async (_tell, signal) => {
      const discovery = await findForeignModels({ ...context, signal });
      if (options.json) io.out.json(discovery);
      else tellDiscovery(io, discovery);
      return EXIT.ok;
    });
  }
  const work = { json: options.json === true, stopping: STOPPING };
  return await tellWork(io, work, async (tell, signal) => {
    const search = { ...context, signal };
    const wanted = options.all
      ? importable(await findForeignModels(search))
      : await findWanted(io, options, names, search);
    if (options.id !== undefined) {
      for (const model of wanted) if (model.importedAs === null) model.id = options.id;
    }
    const importing = { io, options, config, inventory, tell, signal };
    let failed = 0;
    for (const model of wanted) {
      try {
        await take(model, importing);
      } catch (error) {
        signal.throwIfAborted();
        if (!options.all) throw error;
        failed++;
        const { message } = describe(error);
        tell.say("failed", { id: model.id, name: model.name, message }, printable(message));
      }
    }
    if (wanted.length === 0) tell.say("nothing", {}, "There is nothing to import.");
    return failed === 0 ? EXIT.ok : EXIT.failure;
  });
}

interface Importing {
  io: Io;
  options: ImportModelsOptions;
  config: Config;
  inventory: Inventory;
  tell: Teller;
  signal: AbortSignal;
}

function refuseContradictions(options: ImportModelsOptions, names: readonly string[]): void {
  const isOne = names.length === 1;
  const fault = (() => {
    if (options.all && names.length > 0) return ["--all takes every model.", "Leave the names out"];
    if (options.link && options.copy)
      return ["--link and --copy exclude each other.", "Choose one"];
    if (options.id !== undefined && !isOne) return ["--id goes with one model.", "Name one model"];
    if (options.mmproj !== undefined && !isOne) return ["--mmproj goes with one file.", "Name one"];
    return null;
  })();
  if (fault !== null) throw usageError(fault[0]!, `${fault[1]}. somnus import --help shows more.`);
  const problem = options.id === undefined ? null : modelIdProblem(options.id);
  if (problem === null) return;
  throw usageError(
    `The id ${JSON.stringify(options.id)} ${problem}.`,
    "Give another one with --id.",
  );
}

/** What a search has to know of this machine and of the models that are here. */
async function contextOf(io: Io, { models, library }: Inventory, config: Config) {
  const here: ModelHere[] = models
    .filter(({ state }) => state === "installed")
    .map(({ id, files }) => {
      const weights = files.filter(({ role }) => role === "weights").map(({ path }) => path);
      return { id, weights, location: null };
    });
  for (const { id, origin } of await library.list()) {
    if (origin.type === "import") here.push({ id, weights: [], location: origin.location });
    if (origin.type === "convert") here.push({ id, weights: [], location: origin.from });
  }
  const taken = idsHere(models, config);
  return {
    machine: machineOf(serverEnvironment(io.env)),
    here,
    isFreeId: (id: string) => modelIdProblem(id) === null && !taken.has(id.toLowerCase()),
  };
}

/**
 * The ids of models that are installed or configured, in lower case. One that is in the catalog only
 * may be taken by a model that another program calls the same.
 */
function idsHere(models: Inventory["models"], config: Config): Set<string> {
  const here = models.filter(({ state }) => state !== "available");
  return new Set([...here, ...config.models].map(({ id }) => id.toLowerCase()));
}

function importable({ models }: Discovery): FoundModel[] {
  return models.filter((model) => model.importedAs === null && model.converter === null);
}

/** @throws CliFailure when a name means no file and no model that was found */
async function findWanted(
  io: Io,
  options: ImportModelsOptions,
  names: readonly string[],
  search: Parameters<typeof findForeignModels>[0],
): Promise<FoundModel[]> {
  const wanted: FoundModel[] = [];
  let discovery: Discovery | null = null;
  for (const name of names) {
    const path = resolve(io.cwd, name);
    const there = await stat(path).catch(() => null);
    if (there?.isFile()) {
      const projector = options.mmproj === undefined ? null : resolve(io.cwd, options.mmproj);
      wanted.push(await findForeignFile(path, projector, search));
      continue;
    }
    if (options.mmproj !== undefined) {
      throw usageError("--mmproj goes with a file.", `There is no file ${path}.`);
    }
    discovery ??= await findForeignModels(search);
    const found = modelNamed(discovery, name);
    if (found === null) throw unknownName(discovery, name, path, there?.isDirectory() === true);
    wanted.push(found);
  }
  return wanted;
}

/** The found model that a name means: as its tool calls it, or the id it would get. */
function modelNamed({ models }: Discovery, name: string): FoundModel | null {
  const wanted = name.toLowerCase().replace(/:latest$/, "");
  const all = models.flatMap((model) => [model, ...model.copies]);
  const names = (model: FoundModel) => [model.name, model.id, model.importedAs];
  const found = all.find((model) => names(model).some((one) => one?.toLowerCase() === wanted));
  if (found !== undefined) return found;
  // The quantization may be left out where there is only one.
  const variants = models.filter((model) =>
    [model, ...model.copies].some(
      (one) => one.name.toLowerCase() === `${wanted}:${one.quant}`.toLowerCase(),
    ),
  );
  return variants.length === 1 ? variants[0]! : null;
}

function unknownName(
  { models, problems }: Discovery,
  name: string,
  path: string,
  isFolder: boolean,
): CliFailure {
  const shown = printable(name);
  if (isFolder) {
    return new CliFailure(`${shown} is a folder.`, {
      advice: `Name the GGUF file in it. Other forms may be converted: somnus convert ${shown}`,
    });
  }
  if (/\.gguf$/i.test(name)) return new CliFailure(`There is no file ${printable(path)}.`);
  const variants = models.filter((one) =>
    one.name.toLowerCase().startsWith(`${name.toLowerCase()}:`),
  );
  if (variants.length > 0) {
    const list = variants.map((one) => one.name).join(", ");
    return new CliFailure(`${shown} is there in several forms.`, { advice: `Name one: ${list}` });
  }
  const broken = problems.find((one) => one.problem.includes(` ${name} `));
  if (broken !== undefined) return new CliFailure(printable(broken.problem));
  const meant = nearest(
    name,
    models.map((model) => model.name),
  );
  return new CliFailure(`No other program has a model "${shown}".`, {
    advice: `${meant === null ? "" : `Did you mean ${printable(meant)}? `}somnus import lists what there is.`,
  });
}

async function take(model: FoundModel, importing: Importing): Promise<void> {
  const { io, options, inventory, tell, signal } = importing;
  const title = (id: string) =>
    `${io.out.paint.bold(id)} (${[model.quant, bytesText(model.size)].filter(Boolean).join(", ")})`;
  if (model.importedAs !== null) {
    const id = model.importedAs;
    tell.say("present", { id, name: model.name }, `${title(id)} is already here.`);
    return;
  }
  if (model.converter !== null) {
    throw new CliFailure(`${model.name} is not in the form that the engine loads.`, {
      advice: `Convert it: somnus convert ${model.location}`,
    });
  }
  if (idsHere(inventory.models, importing.config).has(model.id.toLowerCase())) {
    throw usageError(`There is another model ${model.id} already.`, "Give another id with --id.");
  }
  const manner: Manner = options.link ? "link" : options.copy ? "copy" : "in place";
  const imported = await importModel(model, {
    library: inventory.library,
    modelsDir: inventory.modelsDir,
    ...{ id: model.id, manner, verify: options.verify === true, signal },
    testedArchitectures: new Set(testedArchitectures(inventory.catalog)),
    on: (progress) => tell.progress(model.id, progress),
  });
  tellImported(model, imported, title(model.id), importing);
}

function tellImported(
  model: FoundModel,
  { manifest, manner, note }: ImportedModel,
  title: string,
  { config, tell, inventory }: Importing,
): void {
  const { id, quant, files, untested } = manifest;
  const notes = [note, model.caution, untested && !model.caution ? untestedNote(id) : null];
  for (const text of notes) if (text !== null) tell.say("note", { id, text }, text);
  const place = {
    "in place": `used where it is: ${printable(model.files[0]!.path)}`,
    link: `linked into ${inventory.modelsDir}`,
    copy: `copied to ${inventory.modelsDir}`,
  }[manner];
  const next = nextStep(config, manifest);
  const fields = { id, quant, tool: model.tool, name: model.name, manner, untested, files };
  tell.say("done", fields, `${title} is imported, ${place}.${next}`);
}
