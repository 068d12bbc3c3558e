import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFile } from "../files/index.js";
import { SomnusError } from "../http/errors.js";
import type { ArtifactSpec } from "./artifact.js";
import { SourceFailure } from "./failure.js";
import { withLock } from "./lock.js";
import { packageNamesOf } from "./sources/package-names.js";
import { storageError } from "./storage-error.js";

/** The packages that more than one of several files are in. Each is downloaded once, and kept until its last file is here. */
export interface SharedPackages {
  /** Whether more than one of the files is in the package. */
  has(name: string): boolean;
  /**
   * Where the package is, downloaded unless it is here; all who want one wait for the first of them. `isFresh` says
   * that it was downloaded since the sharing began. Throws what the download throws, and once the package proved
   * not to be had, the same failure again.
   */
  get(
    name: string,
    how: {
      /** Downloads it somewhere inside the folder, alone in a folder of its own; gives its path. */
      download(folder: string, downloaded: (bytes: number) => void): Promise<string>;
      /** Hears the bytes so far, whoever downloads. */
      downloaded: (bytes: number) => void;
      signal: AbortSignal;
    },
  ): Promise<{ path: string; isFresh: boolean }>;
  /** Removes a package that an earlier process left and that proved damaged; a fresh one stays. */
  discard(name: string, signal: AbortSignal): Promise<void>;
  /** One of the files is here, so it needs no package any more. */
  settled(spec: ArtifactSpec): Promise<void>;
}

/**
 * Runs `work`, which fetches the files and ends when the last fetch has, with what they share of packages kept in `folder` meanwhile; nothing where
 * they share none. One process at a time has the folder. It is gone at the end; when `work` fails or the process is
 * killed, the packages that are whole stay for the next call.
 *
 * @throws SomnusError model_unavailable when the folder cannot be used; the signal's reason when aborted while
 *   another process has it; whatever `work` throws
 */
export async function sharePackages<T>(
  specs: readonly ArtifactSpec[],
  folder: string,
  waiting: { signal: AbortSignal; onWait?: (holder: { pid: number } | null) => void },
  work: (packages: SharedPackages | null) => Promise<T>,
): Promise<T> {
  const users = new Map<string, number>();
  for (const name of specs.flatMap((spec) => [...packageNamesOf(spec)])) {
    users.set(name, (users.get(name) ?? 0) + 1);
  }
  for (const [name, count] of users) if (count < 2) users.delete(name);
  if (users.size === 0) return await work(null);
  let hasBegun = false;
  try {
    return await withLock(sharingLock(folder), waiting, async () => {
      await removeDrafts(folder);
      hasBegun = true;
      try {
        const result = await work(createShared(users, folder));
        // The files are here, whatever becomes of this.
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
        return result;
      } finally {
        // Without a package in it there is nothing to keep it for.
        await rmdir(folder).catch(() => {});
      }
    });
  } catch (error) {
    if (hasBegun || waiting.signal.aborted || error instanceof SomnusError) throw error;
    throw storageError("packages cannot be kept in", folder, error);
  }
}

/** The lock of a folder of shared packages, beside it. */
export function sharingLock(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.lock`);
}

function createShared(users: Map<string, number>, folder: string): SharedPackages {
  const known = new Set(users.keys());
  const fresh = new Set<string>();
  const failures = new Map<string, SourceFailure>();
  const listeners = new Map<string, Set<(bytes: number) => void>>();
  const placeOf = (name: string) => join(folder, idOf(name));
  const lockOf = (name: string) => join(folder, `.${idOf(name)}.lock`);

  async function download(
    name: string,
    bring: (folder: string, downloaded: (bytes: number) => void) => Promise<string>,
  ): Promise<string> {
    const draft = await mkdtemp(join(folder, DRAFT));
    try {
      const file = await bring(draft, (bytes) => {
        for (const hear of listeners.get(name) ?? []) hear(bytes);
      });
      await syncFile(file);
      await rename(dirname(file), placeOf(name));
      fresh.add(name);
      return join(placeOf(name), basename(file));
    } catch (error) {
      if (error instanceof SourceFailure && error.kind === "wrong") failures.set(name, error);
      throw error;
    } finally {
      await rm(draft, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  return {
    has: (name) => known.has(name),

    async get(name, { download: bring, downloaded, signal }) {
      const hearing = listeners.get(name) ?? new Set();
      listeners.set(name, hearing.add(downloaded));
      try {
        await mkdir(folder, { recursive: true });
        return await withLock(lockOf(name), { signal }, async () => {
          const [file] = await readdir(placeOf(name)).catch(() => []);
          if (file !== undefined) {
            return { path: join(placeOf(name), file), isFresh: fresh.has(name) };
          }
          const failure = failures.get(name);
          if (failure) throw failure;
          return { path: await download(name, bring), isFresh: true };
        });
      } finally {
        hearing.delete(downloaded);
      }
    },

    async discard(name, signal) {
      await withLock(lockOf(name), { signal }, async () => {
        if (!fresh.has(name)) await rm(placeOf(name), { recursive: true, force: true });
      });
    },

    async settled(spec) {
      for (const name of packageNamesOf(spec)) {
        const left = (users.get(name) ?? 0) - 1;
        users.set(name, left);
        // What cannot be removed now goes with the folder.
        if (left === 0) await rm(placeOf(name), { recursive: true, force: true }).catch(() => {});
      }
    },
  };
}

const DRAFT = "draft-";

/** Removes what downloads of a killed process left. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith(DRAFT)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function idOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}
