import { mkdir, readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { storageAdvice, withLock } from "../../artifacts/index.js";
import { replaceJson } from "../../files/index.js";
import { SomnusError } from "../../http/errors.js";
import { fileNameOf } from "./note-file.js";
import { removeEmptyFolders, tracesOf } from "./traces.js";

const PullNote = Type.Object({
  pull_version: Type.Literal(1),
  /** What is pulled: the id of a model of the hub, or the first file of a variant of the catalog. */
  key: Type.String({ minLength: 1 }),
  /** The files it brings, from the models folder with forward slashes. */
  files: Type.Array(Type.String({ minLength: 1 })),
});

/** A pull that runs or was stopped, with exactly the files it brings. */
export type PullNote = Pick<Static<typeof PullNote>, "key" | "files">;

/** How long to wait, and who hears of it: the process that is waited for, null when it is not known. */
export interface Waiting {
  signal: AbortSignal;
  onWait?: (holder: { pid: number } | null) => void;
}

/** The pulls into a models folder that have not ended well yet. */
export interface Pulls {
  /**
   * Does `work` as the only one that pulls this. The note of its files is there meanwhile, and stays when it fails
   * and leaves something of them.
   * @throws SomnusError model_unavailable when the folder cannot be written; whatever `work` throws
   */
  during<T>(pull: PullNote, waiting: Waiting, work: () => Promise<T>): Promise<T>;
  /** Does `work` while no pull begins, so that what is decided about files still holds when they are removed. */
  deciding<T>(waiting: Waiting, work: () => Promise<T>): Promise<T>;
  /** The notes that are there. @throws SomnusError model_unavailable when one cannot be read */
  unfinished(): Promise<PullNote[]>;
  /** The process that pulls this now; null when none does. */
  runs(key: string): Promise<{ pid: number | null } | null>;
  /** Removes the note. */
  forget(key: string): Promise<void>;
}

const check = Compile(PullNote);

/** Opens the notes of pulls in a models folder, an absolute path. */
export function openPulls(modelsDir: string): Pulls {
  const folder = join(modelsDir, ".pulls");
  const lockOf = (key: string) => join(folder, `.${fileNameOf(key)}.lock`);
  const pathOf = (file: string) => resolve(modelsDir, file);
  /** It stays while another pull runs or was stopped. */
  const tidy = () => rmdir(folder).catch(() => {});

  async function deciding<T>(waiting: Waiting, work: () => Promise<T>): Promise<T> {
    try {
      return await withLock(join(folder, ".lock"), waiting, work);
    } finally {
      await tidy();
    }
  }

  async function begin({ key, files }: PullNote, signal: AbortSignal): Promise<void> {
    await deciding({ signal }, async () => {
      // Drafts of processes that were killed: nobody else writes here now.
      for (const name of await readdir(folder)) {
        if (/^\..+\.json\.[0-9a-f]{12}$/.test(name)) await rm(join(folder, name), { force: true });
      }
      await replaceJson(join(folder, fileNameOf(key)), { pull_version: 1, key, files });
    });
  }

  async function forget(key: string): Promise<void> {
    await rm(join(folder, fileNameOf(key)), { force: true });
    await tidy();
  }

  /** Nothing is remembered of a pull that was refused before it brought anything. */
  async function forgetUnlessLeft({ key, files }: PullNote): Promise<void> {
    for (const file of files) {
      const { whole, parts } = await tracesOf(pathOf(file));
      if (whole === "ours" || parts.length > 0) return;
    }
    for (const file of files) await removeEmptyFolders(modelsDir, pathOf(file));
    await forget(key);
  }

  return {
    deciding,
    forget,
    async during(pull, waiting, work) {
      try {
        await mkdir(folder, { recursive: true });
        return await withLock(lockOf(pull.key), waiting, async () => {
          await begin(pull, waiting.signal);
          try {
            const done = await work();
            await forget(pull.key);
            return done;
          } catch (error) {
            await forgetUnlessLeft(pull).catch(() => {});
            throw error;
          }
        });
      } catch (error) {
        waiting.signal.throwIfAborted();
        if (!isOfFolder(error, folder)) throw error;
        throw new SomnusError(
          "model_unavailable",
          `Nothing can be stored in ${modelsDir}: ${error.message}. ${storageAdvice(error)}`,
          { cause: error },
        );
      } finally {
        await tidy();
      }
    },
    async unfinished() {
      const notes: PullNote[] = [];
      for (const name of await readdir(folder).catch(ifNoneThere)) {
        if (!name.endsWith(".json") || name.startsWith(".")) continue;
        const note = await readNote(join(folder, name));
        if (note !== null) notes.push(note);
      }
      return notes;
    },
    async runs(key) {
      const lock = lockOf(key);
      if ((await stat(lock).catch(() => null)) === null) return null;
      const stopping = new AbortController();
      let holder: { pid: number | null } | null = null;
      const onWait = (one: { pid: number } | null) => {
        holder = { pid: one?.pid ?? null };
        stopping.abort();
      };
      // Whoever gets the lock at once has cleared away what a killed process left of it.
      await withLock(lock, { signal: stopping.signal, onWait }, async () => {}).catch(
        (error: unknown) => {
          if (!stopping.signal.aborted) throw error;
        },
      );
      await tidy();
      return holder;
    },
  };
}

/** Null for a note that went away meanwhile. */
async function readNote(path: string): Promise<PullNote | null> {
  let reason: string;
  try {
    const note: unknown = JSON.parse(await readFile(path, "utf8"));
    if (check.Check(note)) return note;
    reason = "it is no note of a pull";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    reason = (error as Error).message;
  }
  throw new SomnusError(
    "model_unavailable",
    `The note of an unfinished pull ${path} cannot be read: ${reason}. Delete it, and try again.`,
  );
}

function ifNoneThere(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

/** Whether an error of the file system is about the folder of the notes. */
function isOfFolder(error: unknown, folder: string): error is NodeJS.ErrnoException {
  return (
    error instanceof Error &&
    "path" in error &&
    typeof error.path === "string" &&
    (error.path === folder || error.path.startsWith(folder))
  );
}
