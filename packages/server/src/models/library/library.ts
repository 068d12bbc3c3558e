import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { SomnusError } from "../../http/errors.js";
import { type LibraryManifest, readManifest } from "./manifest.js";

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
  /** All that can be read, sorted by id. */
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
  /** The manifests that list() passes over. */
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

  /** Every manifest file by name, with what it holds or what is wrong with it. */
  async function read(): Promise<[string, LibraryManifest | string][]> {
    const names = (await readdir(folder).catch(() => []))
      .filter((name) => name.endsWith(".json") && !name.startsWith("."))
      .sort();
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
        await mkdir(folder, { recursive: true });
        await replaceFile(folder, fileNameOf(content.id), `${JSON.stringify(content, null, 2)}\n`);
      } catch (error) {
        throw new SomnusError(
          "model_unavailable",
          `${manifest.id} cannot be noted in ${folder}: ${(error as Error).message}. Make the folder writable, or choose another one.`,
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

function parse(text: string): LibraryManifest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is no JSON";
  }
  return readManifest(value);
}

/** Readable, and different for ids that differ only in case or in what a file name cannot hold. */
function fileNameOf(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(0, 100);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}.json`;
}

/** Writes a file so that there is the old or the new one, whole, at any moment. */
async function replaceFile(folder: string, name: string, text: string): Promise<void> {
  const draft = join(folder, `.${name}.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(draft, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, name));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (process.platform === "win32") return;
  const entries = await open(folder, "r");
  try {
    await entries.sync();
  } finally {
    await entries.close();
  }
}
