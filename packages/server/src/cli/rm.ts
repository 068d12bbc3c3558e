import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isLoopbackHost } from "../config/index.js";
import { findInCatalog, removeVariant } from "../models/index.js";
import { canAsk, confirm } from "./ask.js";
import { type ConnectionOptions, connect, isClientError } from "./connection.js";
import { CliFailure, EXIT, interrupted } from "./failure.js";
import {
  findModels,
  type Inventory,
  type KnownFile,
  type KnownModel,
  takeInventory,
} from "./inventory.js";
import type { Io } from "./io.js";
import { findLeftovers, type Leftovers, removeEmptyFolders } from "./leftovers.js";
import { bytesText, countText } from "./quantities.js";
import { loadSettings } from "./settings.js";
import { unknownModel } from "./unknown-model.js";

export interface RmOptions extends ConnectionOptions {
  yes?: boolean;
  json?: boolean;
}

/** What the removal of a model does. */
interface Removal {
  model: KnownModel;
  /** Deleted. */
  files: KnownFile[];
  /** Files that stay where they are, and why. */
  kept: { path: string; reason: string }[];
}

/** How long a server may take to say what it has loaded, milliseconds. */
const ASK_SERVER_MS = 2_000;

/**
 * `somnus rm ID...`: deletes the files of models. Files that are used in place, and files that
 * another installed model has too, stay.
 * @throws CliFailure when a model is not here, is a file of the user's own, or is loaded now
 */
export async function rm(io: Io, options: RmOptions, names: string[]): Promise<number> {
  const { config } = await loadSettings(io, options);
  const inventory = await takeInventory(io, config);
  const models: KnownModel[] = [];
  const leftovers: { name: string; left: Leftovers }[] = [];
  for (const name of new Set(names)) {
    const left = await findLeftovers(inventory, name);
    if (isHere(inventory, name) || left.files.length === 0) {
      models.push(...removable(inventory, name).filter((model) => !models.includes(model)));
    } else leftovers.push({ name, left });
  }
  await refuseLoaded(io, options, inventory, models);
  const removals = planRemovals(inventory.models, models);
  if (!options.yes && canAsk(io)) {
    for (const line of removals.flatMap(describeRemoval)) io.err.line(line);
    for (const { name, left } of leftovers) io.err.line(`${name}: ${leftText(left)}`);
    if (!(await confirm(io, "Remove?"))) throw interrupted("Nothing was removed.");
  }
  for (const { name, left } of leftovers) {
    await removeFiles(inventory, left.files);
    const fields = { id: name, quant: null, freed: left.size, files: left.files, kept: [] };
    if (options.json) io.out.line(JSON.stringify({ event: "removed", ...fields }));
    else io.out.line(`${name}: ${leftText(left)}, is removed.`);
  }
  for (const removal of removals) {
    const { model, files, kept } = removal;
    const freed = await remove(inventory, removal);
    if (options.json) {
      const paths = files.map(({ path }) => path);
      io.out.line(
        JSON.stringify({
          event: "removed",
          ...{ id: model.id, quant: model.quant, freed, files: paths, kept },
        }),
      );
      continue;
    }
    io.out.line(`${titleOf(model)} is removed: ${bytesText(freed)} freed.`);
    for (const { path, reason } of kept) io.out.line(`  ${path} stays: ${reason}.`);
  }
  return EXIT.ok;
}

function isHere({ models }: Inventory, name: string): boolean {
  return findModels(models, name).some((model) => model.state !== "available");
}

function leftText({ size }: Leftovers): string {
  return `what an unfinished pull left, ${bytesText(size)}`;
}

/** @throws CliFailure when nothing of that name can be removed */
function removable({ models }: Inventory, name: string): KnownModel[] {
  const found = findModels(models, name);
  if (found.length === 0) throw unknownModel(models, name);
  const here = found.filter((model) => model.state !== "available");
  if (here.length === 0) {
    throw new CliFailure(`${name} is not installed.`, { advice: "What is: somnus list" });
  }
  const own = here.find((model) => model.from === "configuration");
  if (own !== undefined) {
    throw new CliFailure(`${own.id} is a file of your own, named by the configuration.`, {
      advice: `Take its [[models]] block out of the configuration, and delete ${own.files[0]?.path ?? "the file"} yourself.`,
    });
  }
  return here;
}

/** Deletes what is to go, with what an unfinished pull left. Returns the bytes that this gave back. */
async function remove(inventory: Inventory, { model, files, kept }: Removal): Promise<number> {
  const { artifacts, library, catalog, modelsDir } = inventory;
  let freed = 0;
  for (const { path } of files) freed += await freedBy(path);
  if (model.from === "catalog") {
    const { variant } = findInCatalog(catalog, `${model.id}:${model.quant}`)!;
    const keep = new Set(kept.map(({ path }) => path));
    await removeVariant(variant, { catalog, artifacts, modelsDir, keep });
    return freed;
  }
  // The manifest goes last: whatever stops this, the same command finds the rest again.
  await removeFiles(
    inventory,
    files.map(({ path }) => path),
  );
  await library.remove(model.id);
  return freed;
}

async function removeFiles({ artifacts, modelsDir }: Inventory, paths: readonly string[]) {
  for (const path of paths) {
    await artifacts.forget(path);
    await removeEmptyFolders(modelsDir, path);
  }
}

/** What goes and what stays when these models are removed together. */
export function planRemovals(all: readonly KnownModel[], models: readonly KnownModel[]): Removal[] {
  const staying = new Map<string, string>();
  for (const model of all) {
    if (models.includes(model) || model.state === "available") continue;
    for (const { path } of model.files) staying.set(resolve(path), titleOf(model));
  }
  const gone = new Set<string>();
  return models.map((model) => {
    const removal: Removal = { model, files: [], kept: [] };
    for (const file of model.files) {
      const { path } = file;
      const user = staying.get(resolve(path));
      if (!file.ours) removal.kept.push({ path, reason: "it is used where it is" });
      else if (user !== undefined) removal.kept.push({ path, reason: `${user} has it too` });
      else if (!gone.has(path)) removal.files.push(file);
      gone.add(path);
    }
    return removal;
  });
}

/** @throws CliFailure when a server of this machine has one of the models loaded */
async function refuseLoaded(
  io: Io,
  options: RmOptions,
  { models: all }: Inventory,
  models: readonly KnownModel[],
): Promise<void> {
  const connection = await connect(io, options);
  // A server elsewhere has files of its own.
  const { hostname } = new URL(connection.client.baseUrl);
  if (!isLoopbackHost(hostname.replace(/^\[|\]$/g, ""))) return;
  const paths = new Set(models.flatMap(({ files }) => files.map(({ path }) => resolve(path))));
  const sharing = all.filter(({ files }) => files.some(({ path }) => paths.has(resolve(path))));
  const ids = new Set([...models, ...sharing].flatMap(({ id, quant }) => [id, `${id}:${quant}`]));
  const signal = AbortSignal.timeout(ASK_SERVER_MS);
  const served = await connection.client.models.list({ signal }).catch((error: unknown) => {
    // Nothing answers, or nothing that tells: then nothing is known to be loaded.
    if (isClientError(error) || signal.aborted) return [];
    throw error;
  });
  const loaded = served.filter((model) => model.resident && ids.has(model.id));
  if (loaded.length === 0) return;
  const names = loaded.map(({ id }) => id).join(", ");
  throw new CliFailure(`The server at ${connection.client.baseUrl} has ${names} loaded.`, {
    advice: "Stop the server, or wait until it has unloaded it (somnus ps), and try again.",
  });
}

function describeRemoval({ model, files, kept }: Removal): string[] {
  const what = countText(files.length, "file");
  const lines = [`${titleOf(model)}: ${what}, ${bytesText(bytesOf(files))} (${model.origin})`];
  for (const { path, reason } of kept) lines.push(`  ${path} stays: ${reason}.`);
  return lines;
}

/** Bytes that deleting a file gives back; none where the file has another name besides. */
async function freedBy(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found === null || found.nlink > 1 ? 0 : found.size;
}

function bytesOf(files: readonly KnownFile[]): number {
  return files.reduce((sum, { size }) => sum + (size ?? 0), 0);
}

function titleOf({ id, quant }: KnownModel): string {
  return quant === null || id.endsWith(`:${quant}`) ? id : `${id} (${quant})`;
}
