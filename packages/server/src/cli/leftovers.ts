import { resolve } from "node:path";
import {
  findInCatalog,
  type PullNote,
  parseHubSpec,
  pullKeyOf,
  removeEmptyFolders,
  removeParts,
  removeVariant,
  tracesOf,
  variantRemains,
} from "../models/index.js";
import type { Inventory } from "./inventory.js";

/** What an unfinished pull left of something that no model here is made of. */
export interface Leftovers {
  /** The id of what was pulled. */
  id: string;
  /** What its pulls are known by. */
  key: string;
  /** The files that were to be, absolute; perhaps only parts of them are here. */
  files: string[];
  /** Bytes that are here of them. */
  size: number;
  /** Removes them. @throws SomnusError model_unavailable when one cannot be removed */
  remove(): Promise<void>;
}

/**
 * What pulls that were stopped have left under this name: variants of the catalog, or models of the hub. Of these
 * only what the pull itself has noted counts; whatever else lies in their folder belongs to others.
 * @param notes of all unfinished pulls; what those of others bring stays
 */
export async function findLeftovers(
  inventory: Inventory,
  notes: readonly PullNote[],
  name: string,
): Promise<Leftovers[]> {
  const { models, catalog, artifacts, modelsDir, pulls } = inventory;
  const wanted = name.toLowerCase();
  const found: Leftovers[] = [];
  for (const { id, quant, from, state } of models) {
    if (from !== "catalog" || state !== "available") continue;
    if (![id, `${id}:${quant}`].some((one) => one.toLowerCase() === wanted)) continue;
    const { variant } = findInCatalog(catalog, `${id}:${quant}`)!;
    const key = pullKeyOf(variant);
    const keep = usedBesides(inventory, notes, key);
    const { files, size } = await variantRemains(variant, modelsDir, keep);
    const isNoted = notes.some((note) => note.key === key);
    if (files.length === 0 && !isNoted) continue;
    const remove = async () => {
      await removeVariant(variant, { catalog, artifacts, modelsDir, keep });
      await pulls.forget(key);
    };
    found.push({ id: `${id}:${quant}`, key, files, size, remove });
  }
  const hub = parseHubSpec(name);
  const names = [wanted, hub === null ? wanted : hubName(hub).toLowerCase()];
  for (const note of notes) {
    const key = note.key.toLowerCase();
    const isMeant = names.includes(key) || names.some((one) => isWholeRepository(one, key));
    if (hub !== null && isMeant) found.push(await ofNote(inventory, notes, note));
  }
  return found;
}

/** What the pull of this note left, except for what others need. */
export async function ofNote(
  inventory: Inventory,
  notes: readonly PullNote[],
  { key, files }: PullNote,
): Promise<Leftovers> {
  const { artifacts, modelsDir, pulls } = inventory;
  const used = usedBesides(inventory, notes, key);
  const left: Leftovers = { id: key, key, files: [], size: 0, remove };
  const foreign = new Set<string>();
  for (const file of files) {
    const path = resolve(modelsDir, file);
    if (used.has(path)) continue;
    const { whole, parts, size } = await tracesOf(path);
    if (whole !== "ours" && parts.length === 0) continue;
    if (whole === "foreign") foreign.add(path);
    left.files.push(path);
    left.size += size;
  }
  async function remove() {
    for (const path of left.files) {
      if (foreign.has(path)) await removeParts(path);
      else await artifacts.forget(path);
      await removeEmptyFolders(modelsDir, path);
    }
    await pulls.forget(key);
  }
  return left;
}

/** The files that models here and other pulls than this need. */
function usedBesides(
  { models, modelsDir }: Inventory,
  notes: readonly PullNote[],
  key: string,
): Set<string> {
  const ofModels = models
    .filter(({ state }) => state !== "available")
    .flatMap(({ files }) => files.map(({ path }) => resolve(path)));
  const ofPulls = notes
    .filter((note) => note.key !== key)
    .flatMap(({ files }) => files.map((file) => resolve(modelsDir, file)));
  return new Set([...ofModels, ...ofPulls]);
}

function hubName({ repo, quant, path }: NonNullable<ReturnType<typeof parseHubSpec>>): string {
  const what = quant ?? path;
  return what === null ? repo : `${repo}:${what}`;
}

function isWholeRepository(name: string, key: string): boolean {
  return !name.includes(":") && key.startsWith(`${name}:`);
}
