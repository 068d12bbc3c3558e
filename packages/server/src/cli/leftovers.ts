import { readdir, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parseHubSpec } from "../models/index.js";
import type { Inventory } from "./inventory.js";

/** What an unfinished pull left of something that no model here is made of. */
export interface Leftovers {
  /** The files that were to be, absolute; perhaps only parts of them are here. */
  files: string[];
  /** Bytes that are here of them. */
  size: number;
}

/** What pulls that were stopped have left under this name: a model of the catalog, or a repository of the hub. */
export async function findLeftovers(
  { models, modelsDir }: Inventory,
  name: string,
): Promise<Leftovers> {
  const used = new Set(
    models
      .filter(({ state }) => state !== "available")
      .flatMap(({ files }) => files.map(({ path }) => resolve(path))),
  );
  const wanted = name.toLowerCase();
  const own = models
    .filter(({ id, quant }) => [id, `${id}:${quant}`].some((one) => one.toLowerCase() === wanted))
    .flatMap(({ files }) => files.map(({ path }) => path));
  const hub = parseHubSpec(name);
  const folder = hub === null ? null : join(modelsDir, "hub", ...hub.repo.split("/"));
  const left: Leftovers = { files: [], size: 0 };
  const found = new Map([
    ...(await filesOf(modelsDir, false)).entries(),
    ...(folder === null ? [] : (await filesOf(folder, true)).entries()),
  ]);
  for (const [path, size] of found) {
    const isMeant = own.includes(path) || (folder !== null && path.startsWith(folder + sep));
    if (!isMeant || used.has(path)) continue;
    left.files.push(path);
    left.size += size;
  }
  return left;
}

/** Removes folders of the models folder that hold nothing any more. */
export async function removeEmptyFolders(modelsDir: string, file: string): Promise<void> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const inside = relative(modelsDir, folder);
    if (inside === "" || inside.startsWith("..")) return;
    try {
      await rmdir(folder);
    } catch {
      // It holds something, or is not ours to remove.
      return;
    }
  }
}

/** The files that are in a folder, whole or as the hidden companions of an unfinished one, and their bytes. */
async function filesOf(folder: string, recursive: boolean): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = /^\.(.+)\.part(?:\.json)?$/.exec(entry.name)?.[1] ?? entry.name;
    if (name.startsWith(".")) continue;
    const whole = join(dirname(path), basename(name));
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    found.set(whole, (found.get(whole) ?? 0) + size);
  }
  return found;
}
