import { lstat, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { holderText } from "../artifacts/index.js";
import { type Config, isLoopbackHost } from "../config/index.js";
import {
  findInCatalog,
  openPulls,
  type PullNote,
  pullKeyOf,
  removeEmptyFolders,
  removeVariant,
} from "../models/index.js";
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
import { printable } from "./layout.js";
import { findLeftovers, type Leftovers, ofNote } from "./leftovers.js";
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

/** What `rm` is about to do. */
interface Decision {
  inventory: Inventory;
  removals: Removal[];
  leftovers: Leftovers[];
}

/**
 * `somnus rm ID...`: deletes the files of models. Files that are used in place, and files that
 * another model or a running pull has too, stay.
 * @throws CliFailure when a model is not here, is a file of the user's own, is pulled or loaded now, or when it
 *   cannot be told what others need
 */
export async function rm(io: Io, options: RmOptions, names: string[]): Promise<number> {
  const { config } = await loadSettings(io, options);
  const decideNow = () => decide(io, options, config, names);
  let shown: Decision | null = null;
  if (!options.yes && canAsk(io)) {
    shown = await decideNow();
    for (const line of shown.removals.flatMap(describeRemoval)) io.err.line(printable(line));
    for (const left of shown.leftovers) io.err.line(printable(`${left.id}: ${leftText(left)}`));
    if (!(await confirm(io, "Remove?"))) throw interrupted("Nothing was removed.");
  }
  return await whileNoPullBegins(io, config.pool.models_dir, async () => {
    const decision = await decideNow();
    if (shown !== null && outlineOf(shown) !== outlineOf(decision)) {
      throw new CliFailure("What would be removed has changed since it was shown.", {
        advice: "Nothing was removed; look at it again.",
      });
    }
    await carryOut(io, options, decision);
    return EXIT.ok;
  });
}

/** @throws CliFailure; SomnusError model_unavailable when the library or the note of a pull cannot be read */
async function decide(
  io: Io,
  options: RmOptions,
  config: Config,
  names: readonly string[],
): Promise<Decision> {
  const inventory = await takeInventory(io, config);
  const notes = await inventory.pulls.unfinished();
  const models: KnownModel[] = [];
  const leftovers: Leftovers[] = [];
  for (const name of new Set(names)) {
    const left = isHere(inventory, name) ? [] : await findLeftovers(inventory, notes, name);
    if (left.length === 0) {
      models.push(...removable(inventory, name).filter((model) => !models.includes(model)));
      continue;
    }
    if (left.length > 1 && findModels(inventory.models, name).length === 0) {
      throw new CliFailure(`There are unfinished pulls of several ${name}.`, {
        advice: `Name one: ${left.map(({ id }) => id).join(", ")}`,
      });
    }
    const known = new Set(leftovers.map(({ key }) => key));
    leftovers.push(...left.filter(({ key }) => !known.has(key)));
  }
  const keys = new Map(leftovers.map(({ key, id }) => [key, id]));
  for (const model of models) keys.set(pullKey(inventory, model), titleOf(model));
  await refusePulled(inventory, keys);
  await refuseLoaded(io, options, inventory, models);
  const removals = planRemovals(inventory.models, models, claimedBy(inventory, notes, keys));
  for (const { model } of removals) {
    const key = pullKey(inventory, model);
    const note = notes.find((one) => one.key === key);
    if (note !== undefined) leftovers.push(await ofNote(inventory, notes, note));
  }
  const deletes = removals.some(({ files }) => files.length > 0) || leftovers.length > 0;
  if (deletes) await refuseUnreadable(inventory);
  return { inventory, removals, leftovers };
}

async function carryOut(
  io: Io,
  options: RmOptions,
  { inventory, removals, leftovers }: Decision,
): Promise<void> {
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
    io.out.line(printable(`${titleOf(model)} is removed: ${bytesText(freed)} freed.`));
    for (const { path, reason } of kept) io.out.line(printable(`  ${path} stays: ${reason}.`));
  }
  for (const left of leftovers) {
    await left.remove();
    // What a model that went just now was pulled again into is told with the model.
    if (left.files.length === 0 || removals.some(({ model }) => model.id === left.id)) continue;
    const fields = { id: left.id, quant: null, freed: left.size, files: left.files, kept: [] };
    if (options.json) io.out.line(JSON.stringify({ event: "removed", ...fields }));
    else io.out.line(printable(`${left.id}: ${leftText(left)}, is removed.`));
  }
}

/** Decides and removes while no pull begins that would bring what goes. */
async function whileNoPullBegins<T>(io: Io, modelsDir: string, work: () => Promise<T>): Promise<T> {
  // Where no folder is, nothing can be removed, and none is made for a lock.
  if (!(await stat(modelsDir).catch(() => null))?.isDirectory()) return await work();
  const { signal } = new AbortController();
  const onWait = (holder: { pid: number } | null) =>
    io.err.line(`Waiting for ${holderText(holder)}, which begins a pull or removes.`);
  let hasBegun = false;
  try {
    return await openPulls(modelsDir).deciding({ signal, onWait }, () => {
      hasBegun = true;
      return work();
    });
  } catch (error) {
    if (hasBegun) throw error;
    throw new CliFailure(`Nothing can be removed from ${modelsDir}: ${(error as Error).message}.`, {
      advice: "Make the folder writable for this user.",
      cause: error,
    });
  }
}

/** What a decision comes to, to compare it with another. */
function outlineOf({ removals, leftovers }: Decision): string {
  return JSON.stringify([
    removals.map(({ model, files, kept }) => [titleOf(model), files.map(({ path }) => path), kept]),
    leftovers.map(({ key, files }) => [key, files]),
  ]);
}

/** What pulls of a model are known by. */
function pullKey({ catalog }: Inventory, { id, quant, from }: KnownModel): string {
  return from === "catalog" ? pullKeyOf(findInCatalog(catalog, `${id}:${quant}`)!.variant) : id;
}

/** The files that pulls of something else bring, and what for. */
function claimedBy(
  { modelsDir }: Inventory,
  notes: readonly PullNote[],
  removed: ReadonlyMap<string, string>,
): Map<string, string> {
  const claimed = new Map<string, string>();
  for (const { key, files } of notes) {
    if (removed.has(key)) continue;
    for (const file of files) claimed.set(resolve(modelsDir, file), `the pull of ${key}`);
  }
  return claimed;
}

/** @throws CliFailure when one of these is pulled now */
async function refusePulled(
  { pulls }: Inventory,
  keys: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [key, title] of keys) {
    const running = await pulls.runs(key);
    if (running === null) continue;
    throw new CliFailure(`${title} is being pulled now, by ${holderText(running)}.`, {
      advice: "Nothing was removed. Stop that pull or let it end, and try again.",
    });
  }
}

/** @throws CliFailure when a manifest cannot be read: the files that go may be those of its model */
async function refuseUnreadable({ library }: Inventory): Promise<void> {
  const [broken] = await library.broken();
  if (broken === undefined) return;
  throw new CliFailure(
    `${join(library.folder, broken.file)} cannot be used: ${broken.reason}. So nobody can tell which files its model needs, and nothing was removed.`,
    { advice: "Correct that file, or delete it if its model may go, and try again." },
  );
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
  // A name with its quantization says which one is meant.
  const isExact = here.some(({ id }) => id.toLowerCase() === name.toLowerCase());
  if (isExact && new Set(here.map(({ from }) => from === "catalog")).size > 1) {
    const names = here.map(({ id, quant, origin }) => `${id}:${quant} (${origin})`).join(", ");
    throw new CliFailure(`There are two models ${name}.`, {
      advice: `Say which one with its quantization: ${names}`,
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
function planRemovals(
  all: readonly KnownModel[],
  models: readonly KnownModel[],
  claimed: ReadonlyMap<string, string>,
): Removal[] {
  const staying = new Map(claimed);
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

/** Bytes that deleting a file gives back; none where the file has another name besides, or is a link. */
async function freedBy(path: string): Promise<number> {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() && found.nlink === 1 ? found.size : 0;
}

function bytesOf(files: readonly KnownFile[]): number {
  return files.reduce((sum, { size }) => sum + (size ?? 0), 0);
}

function titleOf({ id, quant }: KnownModel): string {
  return quant === null || id.endsWith(`:${quant}`) ? id : `${id} (${quant})`;
}
