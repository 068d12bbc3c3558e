import { lstat, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { storageAdvice } from "../../artifacts/index.js";
import { replaceJson } from "../../files/index.js";
import { SomnusError } from "../../http/errors.js";
import { type LibraryManifest, readManifest } from "./manifest.js";
import { fileNameOf } from "./note-file.js";

/** A manifest that cannot be used, and why. */
export interface BrokenManifest {
  /** File name in the library's folder. */
  file: string;
  /** A sentence without its full stop. */
  reason: string;
}

/** The models that are installed without being in the catalog: one manifest each. */
export interface Library {
  /** The folder of the manifests; absolute when the models folder is. It need not exist. */
  readonly folder: string;
  /**
   * All that can be read, sorted by id. While the folder cannot be read these are the ones of the last time.
   * @throws SomnusError model_unavailable when it cannot be read and never was
   */
  list(): Promise<LibraryManifest[]>;
  /** The one of this id, or null. */
  find(id: string): Promise<LibraryManifest | null>;
  /**
   * Adds it in one step, in place of an older one of the same id.
   * @throws SomnusError model_unavailable when the manifest is wrong or cannot be written
   */
  add(manifest: LibraryManifest): Promise<void>;
  /** Forgets the model; its files stay. Says whether it was there. */
  remove(id: string): Promise<boolean>;
  /** The manifests that list() passes over, and the folder itself (as an empty name) while it cannot be read. */
  broken(): Promise<BrokenManifest[]>;
}

/** A manifest as it was read, kept until its file changes. */
interface Known {
  stamp: string;
  content: LibraryManifest | string;
}

/** A manifest is a few kilobytes, also of a model in hundreds of parts. */
const LARGEST_MANIFEST_BYTES = 1 << 20;

/** Opens the library of a models folder. Nothing is read before it is asked for. */
export function openLibrary(modelsDir: string): Library {
  const folder = join(modelsDir, "library");
  const known = new Map<string, Known>();
  let last: [string, LibraryManifest | string][] | null = null;

  /**
   * Every manifest file by name, with what it holds or what is wrong with it. A folder that cannot be read holds
   * what it held before: that nobody may look into it does not mean that it is empty.
   */
  async function read(): Promise<[string, LibraryManifest | string][]> {
    let names: string[];
    try {
      names = await namesIn(modelsDir, folder);
    } catch (error) {
      const { message } = error as Error;
      if (last === null) {
        throw new SomnusError(
          "model_unavailable",
          `The library of models in ${folder} cannot be read: ${message}. Make it a readable folder, or choose another models folder (pool.models_dir).`,
          { cause: error },
        );
      }
      return [...last, ["", `it cannot be read (${message})`]];
    }
    last = await readAll(names);
    return last;
  }

  async function readAll(names: readonly string[]): Promise<[string, LibraryManifest | string][]> {
    for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
    const all: [string, LibraryManifest | string][] = [];
    const fileOfId = new Map<string, string>();
    for (const name of names) {
      const content = await readFileOnce(name);
      if (content === null) continue;
      const other = typeof content === "string" ? undefined : fileOfId.get(content.id);
      if (typeof content === "string" || other === undefined) all.push([name, content]);
      else all.push([name, `its id ${content.id} is taken by ${other}`]);
      if (typeof content !== "string" && other === undefined) fileOfId.set(content.id, name);
    }
    return all;
  }

  /** Null for a file that went away meanwhile. */
  async function readFileOnce(name: string): Promise<LibraryManifest | string | null> {
    const path = join(folder, name);
    try {
      const found = await stat(path);
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      const before = known.get(name);
      if (before?.stamp === stamp) return before.content;
      const content = !found.isFile()
        ? "it is not a file"
        : found.size > LARGEST_MANIFEST_BYTES
          ? "it is too long"
          : parse(await readFile(path, "utf8"));
      known.set(name, { stamp, content });
      return content;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === "ENOENT" ? null : `it cannot be read (${code ?? message})`;
    }
  }

  const isUsable = (
    entry: [string, LibraryManifest | string],
  ): entry is [string, LibraryManifest] => typeof entry[1] !== "string";

  return {
    folder,
    async list() {
      const manifests = (await read()).filter(isUsable).map(([, manifest]) => manifest);
      return manifests.sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async find(id) {
      return (await this.list()).find((manifest) => manifest.id === id) ?? null;
    },
    async add(manifest) {
      const content = readManifest(manifest);
      if (typeof content === "string") {
        throw new SomnusError(
          "model_unavailable",
          `${manifest.id} cannot be added to the library: ${content}.`,
        );
      }
      try {
        await replaceJson(join(folder, fileNameOf(content.id)), content);
      } catch (error) {
        throw new SomnusError(
          "model_unavailable",
          `${manifest.id} cannot be noted in ${folder}: ${(error as Error).message}. ${storageAdvice(error)}`,
          { cause: error },
        );
      }
    },
    async remove(id) {
      const found = (await read()).filter(isUsable).find(([, manifest]) => manifest.id === id);
      if (!found) return false;
      await rm(join(folder, found[0]), { force: true });
      return true;
    },
    async broken() {
      return (await read()).flatMap(([file, content]) =>
        typeof content === "string" ? [{ file, reason: content }] : [],
      );
    },
  };
}

/** The manifests in the library's folder. @throws an fs error when there is something that is no readable folder */
async function namesIn(modelsDir: string, folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // A link to nowhere may lead somewhere again, as when a disk is mounted.
    for (const path of [modelsDir, folder]) {
      const there = await lstat(path).catch(() => null);
      if (there?.isSymbolicLink() && (await stat(path).catch(() => null)) === null) throw error;
    }
    return [];
  }
}

function parse(text: string): LibraryManifest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is no JSON";
  }
  return readManifest(value);
}
