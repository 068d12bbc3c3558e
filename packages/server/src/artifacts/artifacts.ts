import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { SomnusError } from "../http/errors.js";
import { createLog, type Logger, type OnProgress } from "../observe/index.js";
import type { Artifact, ArtifactSpec, Source } from "./artifact.js";
import { errorText, SourceFailure } from "./failure.js";
import { isDiskFull, readableBytes } from "./free-space.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { withLock } from "./lock.js";
import { createPartFile, type PartFile } from "./part-file.js";
import { createReach } from "./reach.js";
import { covers, hashFile, identityOf, readReceipt, writeReceipt } from "./receipt.js";
import type { Attempt } from "./sources/attempt.js";
import { bringFile } from "./sources/file.js";
import { bringHttps, publicAddress } from "./sources/https.js";
import { findPip, type Pip } from "./sources/pip.js";
import { bringPypi, type PipSettings, pypiLabel } from "./sources/pypi.js";
import { startTransfer } from "./transfer.js";

export interface ArtifactsOptions {
  /** Folder for downloads that are unpacked; the folder of the file itself when absent. */
  tmpDir?: string;
  /** Environment for pip and the proxy settings; that of this process when absent. */
  env?: NodeJS.ProcessEnv;
  /** The command to start pip with; searched for when absent. */
  pip?: string[];
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
   * signal's reason when aborted; nothing half-done is left then.
   */
  fetch(spec: ArtifactSpec, dir: string, on: OnProgress, signal: AbortSignal): Promise<Artifact>;
  /** The file in `dir` if it is the right one, else null. Reads it only when its receipt does not fit it. */
  installed(spec: ArtifactSpec, dir: string): Promise<Artifact | null>;
}

/** The artifacts of one run: it remembers which sources cannot be reached. */
export function createArtifacts(options: ArtifactsOptions = {}): Artifacts {
  const env = options.env ?? process.env;
  const log = options.log ?? createLog("silent");
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const reach = createReach(limits.forgetMs);
  let pip: Pip | null = null;

  async function noteReceipt(path: string, sha256: string, source: string): Promise<void> {
    await writeReceipt(path, sha256, source).catch((error: unknown) => {
      // Without a receipt the file is only hashed again at the next start.
      log.warn({ path, reason: errorText(error) }, "the receipt of a file cannot be written");
    });
  }

  async function installed(spec: ArtifactSpec, dir: string): Promise<Artifact | null> {
    requireUsable(spec);
    const path = resolve(dir, spec.file);
    const identity = await identityOf(path);
    if (identity?.size !== spec.size) return null;
    const here = (source: string): Artifact => ({
      path,
      size: spec.size,
      sha256: spec.sha256,
      source,
      cached: true,
    });
    const receipt = await readReceipt(path);
    if (receipt && covers(receipt, identity)) {
      return receipt.sha256 === spec.sha256 ? here(receipt.source) : null;
    }
    if ((await hashFile(path)) !== spec.sha256) return null;
    const source = receipt?.sha256 === spec.sha256 ? receipt.source : "found on disk";
    await noteReceipt(path, spec.sha256, source);
    return here(source);
  }

  async function fetchLocked(
    spec: ArtifactSpec,
    path: string,
    on: OnProgress,
    signal: AbortSignal,
  ): Promise<Artifact> {
    const dir = dirname(path);
    const workPrefix = `somnus-${createHash("sha256").update(path).digest("hex").slice(0, 12)}-`;
    const workRoot = resolve(options.tmpDir ?? dir);
    await removeLeftovers(dir, workRoot, spec.file, workPrefix);
    const pipSettings: PipSettings = {
      dir: workRoot,
      prefix: workPrefix,
      async find(within) {
        pip ??= await findPip(options.pip, env, within);
        return pip;
      },
    };
    const failures = new Map<Source, SourceFailure>();
    for (const patient of [false, true]) {
      for (const source of spec.sources) {
        if (patient && failures.get(source)?.kind !== "faltered") continue;
        const label = labelOf(source);
        let part: PartFile | null = null;
        const partPath = `${path}.${randomBytes(6).toString("hex")}.part`;
        const attempt: Attempt = {
          spec,
          dir,
          partPath,
          async openPart() {
            part = await createPartFile(partPath, spec);
            return part;
          },
          transfer: startTransfer(`fetching ${spec.file} from ${source.type}`, spec.size, on),
          patient,
          limits,
          reach,
          env,
          log,
          signal,
        };
        try {
          await bring(source, attempt, pipSettings);
          await publish(partPath, path);
          await noteReceipt(path, spec.sha256, label);
          attempt.transfer.reached(spec.size);
          log.info({ path, source: label, bytes: spec.size }, "file fetched");
          return { path, size: spec.size, sha256: spec.sha256, source: label, cached: false };
        } catch (error) {
          signal.throwIfAborted();
          const failure = asFailure(error);
          if (!failure) throw error;
          failures.set(source, failure);
          log.warn(
            { file: spec.file, source: label, reason: failure.message, kind: failure.kind },
            "a source did not bring the file",
          );
        } finally {
          await closePart(part, partPath);
        }
      }
    }
    throw noSourceLeft(spec, path, failures);
  }

  return {
    installed,
    async fetch(spec, dir, on, signal) {
      signal.throwIfAborted();
      const path = resolve(dir, spec.file);
      try {
        const here = await installed(spec, dir);
        if (here) return here;
        await mkdir(dirname(path), { recursive: true });
        const lock = join(dirname(path), `.${basename(path)}.lock`);
        const onWait = (holder: { pid: number } | null) =>
          on({ step: waitingStep(spec, holder), done: 0, total: spec.size, unit: "bytes" });
        return await withLock(lock, { signal, onWait }, async () => {
          const brought = await installed(spec, dir);
          if (brought) return { ...brought, cached: false };
          return await fetchLocked(spec, path, on, signal);
        });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SomnusError) throw error;
        throw new SomnusError(
          "model_unavailable",
          `${spec.file} cannot be stored in ${dirname(path)}: ${errorText(error)}. Make the folder writable, or choose another one.`,
          { cause: error },
        );
      }
    },
  };
}

async function bring(source: Source, attempt: Attempt, pip: PipSettings): Promise<void> {
  switch (source.type) {
    case "file":
      return bringFile(source, attempt);
    case "https":
      return bringHttps(source, attempt);
    case "pypi":
      return bringPypi(source, pip, attempt);
  }
}

function labelOf(source: Source): string {
  switch (source.type) {
    case "file":
      return `file ${source.path}`;
    case "https":
      return publicAddress(source.url);
    case "pypi":
      return pypiLabel(source.parts);
  }
}

function waitingStep(spec: ArtifactSpec, holder: { pid: number } | null): string {
  const who = holder ? `process ${holder.pid}` : "another process";
  return `waiting for ${who} to fetch ${spec.file}`;
}

/** Gives the verified part its name, so that it survives a power cut from here on. */
async function publish(partPath: string, path: string): Promise<void> {
  await rename(partPath, path);
  if (process.platform === "win32") return;
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function closePart(part: PartFile | null, partPath: string): Promise<void> {
  await part?.close();
  // A linked part was never opened, and one that was sealed but not published still stands.
  await rm(partPath, { force: true });
}

/** Removes what a killed process left behind; only called under the lock, so nobody else uses it. */
async function removeLeftovers(
  dir: string,
  workRoot: string,
  file: string,
  workPrefix: string,
): Promise<void> {
  for (const name of await readdir(dir)) {
    const middle = name.startsWith(`${file}.`) ? name.slice(file.length + 1) : "";
    const draft = name.startsWith(`.${file}.receipt.json.`);
    if (draft || /^[0-9a-f]{12}\.part$/.test(middle)) await rm(join(dir, name), { force: true });
  }
  const folders = await readdir(workRoot).catch(() => []);
  for (const name of folders) {
    if (name.startsWith(workPrefix)) {
      await rm(join(workRoot, name), { recursive: true, force: true });
    }
  }
}

function asFailure(error: unknown): SourceFailure | null {
  if (error instanceof SourceFailure) return error;
  if (isDiskFull(error)) {
    return new SourceFailure("disk", "no space is left on the disk", { cause: error });
  }
  return null;
}

function noSourceLeft(
  spec: ArtifactSpec,
  path: string,
  failures: Map<Source, SourceFailure>,
): SomnusError {
  const reasons = [...failures].map(([source, { message }]) => `${labelOf(source)}: ${message}`);
  const kinds = new Set([...failures.values()].map(({ kind }) => kind));
  const advice: string[] = [];
  if (kinds.has("disk")) {
    advice.push(`Free ${readableBytes(spec.size)} or more in ${dirname(path)} and try again.`);
  }
  if (kinds.has("unreachable") || kinds.has("faltered")) {
    advice.push("Check the network and proxy settings and try again.");
  }
  advice.push(`Or put the file (${spec.size} bytes, SHA-256 ${spec.sha256}) at ${path} yourself.`);
  const list = reasons.length === 0 ? "no source is known for it" : reasons.join("; ");
  return new SomnusError(
    "model_unavailable",
    `${spec.file} could not be fetched. ${list}. ${advice.join(" ")}`,
  );
}

function requireUsable(spec: ArtifactSpec): void {
  const fault =
    spec.file === "" || spec.file === "." || spec.file === ".." || /[/\\\0]/.test(spec.file)
      ? "its name is not a plain file name"
      : !Number.isSafeInteger(spec.size) || spec.size < 0
        ? "its size is not a number of bytes"
        : !/^[0-9a-f]{64}$/.test(spec.sha256)
          ? "its SHA-256 is not 64 lower-case hexadecimal digits"
          : null;
  if (fault === null) return;
  throw new SomnusError(
    "model_unavailable",
    `The file ${JSON.stringify(spec.file)} cannot be used: ${fault}. Correct it in the catalog.`,
  );
}
