import { createHash } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../files/index.js";
import type { Logger, OnProgress } from "../observe/index.js";
import type { Artifact, ArtifactSpec, Source } from "./artifact.js";
import { SourceFailure } from "./failure.js";
import { birthOf, requireReplaceable } from "./foreign-file.js";
import { isDiskFull } from "./free-space.js";
import type { Limits } from "./limits.js";
import { notePathOf, openPart, partPathOf } from "./part/open-part.js";
import type { Expectation, Part, Sealed } from "./part/part.js";
import { heldTo } from "./pin.js";
import type { Reach } from "./reach.js";
import { identityOf, receiptPath } from "./receipt.js";
import type { SharedPackages } from "./shared-packages.js";
import type { Shelf } from "./shelf.js";
import type { Attempt } from "./sources/attempt.js";
import { expectationOf, labelOf } from "./spec.js";
import { noSourceLeft } from "./storage-error.js";
import { startTransfer } from "./transfer.js";

/** What fetching works with. */
export interface Fetching {
  env: NodeJS.ProcessEnv;
  limits: Limits;
  reach: Reach;
  log: Logger;
  shelf: Shelf;
  /** Folder for what is unpacked and removed again; that of the file when absent. */
  tmpDir: string | undefined;
  /** Lets a source do its work; `work` is where it may put folders, their names beginning with `prefix`. */
  bring(source: Source, attempt: Attempt, work: { dir: string; prefix: string }): Promise<void>;
}

/**
 * Brings the file to `path` from the first source that has it. The caller holds the file's lock.
 * Where the spec has no hash, what the first download pinned is held to, also after the file was deleted.
 * Throws `model_unavailable` with each source's reason or for a file of somebody else's in its place, the signal's
 * reason, or the system's error where the folder cannot be written; what a download brought until then stays as
 * its part.
 */
export async function fetchFile(
  fetching: Fetching,
  asked: ArtifactSpec,
  path: string,
  { on, signal, packages }: Pick<Try, "on" | "signal" | "packages">,
): Promise<Artifact> {
  const { log, shelf } = fetching;
  const receipt = await shelf.receiptOf(path);
  const held = heldTo(asked, receipt);
  const spec = held === null ? asked : { ...asked, sha256: held };
  await requireReplaceable(path, spec, receipt, signal);
  const prefix = `somnus-${createHash("sha256").update(path).digest("hex").slice(0, 12)}-`;
  const work = { dir: fetching.tmpDir ?? dirname(path), prefix };
  await removeLeftovers(path, work);
  const failures = new Map<Source, SourceFailure>();
  for (const patient of [false, true]) {
    for (const source of spec.sources) {
      if (patient && failures.get(source)?.kind !== "faltered") continue;
      // Kept bytes that prove wrong are gone after one try; the second one begins at zero.
      for (const again of [true, false]) {
        try {
          const pinnedHere = held !== null;
          const step = again ? fetchingStep(spec, source) : damagedStep(spec);
          const to = { spec, pinnedHere, path, step };
          const one: Try = { ...to, source, patient, work, on, signal, packages };
          return await tryOnce(fetching, one);
        } catch (error) {
          signal.throwIfAborted();
          const failure = asFailure(error);
          if (!failure) throw error;
          log.warn(
            {
              file: spec.file,
              source: labelOf(source),
              reason: failure.message,
              kind: failure.kind,
            },
            "a source did not bring the file",
          );
          failures.set(source, failure);
          if (failure.kind !== "corrupt" || !again) break;
        }
      }
    }
  }
  const pin = held === null ? null : { sha256: held, receipt: receiptPath(path) };
  throw noSourceLeft(spec, path, failures, pin);
}

function fetchingStep({ file }: ArtifactSpec, { type }: Source): string {
  return `fetching ${file} from ${type}`;
}

function damagedStep({ file }: ArtifactSpec): string {
  return `fetching ${file} again: the part that was kept is damaged`;
}

interface Try {
  /** With the hash that it is held to. */
  spec: ArtifactSpec;
  /** That hash is the first download's. */
  pinnedHere: boolean;
  path: string;
  /** What is done, for people. */
  step: string;
  source: Source;
  patient: boolean;
  work: { dir: string; prefix: string };
  on: OnProgress;
  signal: AbortSignal;
  /** Those that the file shares with others; null when it is fetched alone. */
  packages: SharedPackages | null;
}

async function tryOnce(
  fetching: Fetching,
  { spec, path, pinnedHere, ...one }: Try,
): Promise<Artifact> {
  const { source, step, patient, work, on, signal, packages } = one;
  const { env, limits, reach, log } = fetching;
  const label = labelOf(source);
  const linkPath = linkPathOf(path);
  let told: Partial<Expectation> = {};
  let part: Part | null = null;
  let linked: Sealed | null = null;
  const transfer = startTransfer({ step, file: spec.file, total: spec.size }, on);
  const attempt: Attempt = {
    spec,
    dir: dirname(path),
    linkPath,
    async openPart(known = {}) {
      const expected = expectationOf(spec, known);
      told = known;
      part = await openPart(path, expected, label, signal);
      if (part.expected.size !== null) transfer.expect(part.expected.size);
      return part;
    },
    linked(file, known = {}) {
      told = known;
      linked = file;
    },
    transfer,
    packages,
    patient,
    limits,
    reach,
    env,
    log,
    signal,
  };
  try {
    await fetching.bring(source, attempt, work);
    const sealed = linked ?? (part as Part | null)?.sealed ?? null;
    if (!sealed) throw new Error(`the source ${label} brought nothing and did not say why`);
    const { size, sha256 } = sealed;
    const known = spec.sha256 !== null ? "spec" : told.sha256 != null ? "source" : null;
    const pinnedBy = pinnedHere ? "first download" : (known ?? "first download");
    await requireReplaceable(path, spec, await fetching.shelf.receiptOf(path), signal);
    await publish(fetching.shelf, sealed, path, { label, pinnedBy });
    transfer.expect(size);
    transfer.reached(size);
    log.info({ path, source: label, bytes: size, pinned_by: pinnedBy }, "file fetched");
    return { path, size, sha256, pinnedBy, source: label, cached: false };
  } finally {
    await (part as Part | null)?.close();
    await rm(linkPath, { force: true });
  }
}

/** Gives the verified file its name, so that it survives a power cut from here on; its receipt is there before. */
async function publish(
  shelf: Shelf,
  { path: from, sha256 }: Sealed,
  path: string,
  { label, pinnedBy }: { label: string; pinnedBy: Artifact["pinnedBy"] },
): Promise<void> {
  const identity = await identityOf(from);
  if (!identity) throw new Error(`${from} is gone`);
  const pinned = { sha256, by: pinnedBy, source: label };
  const brought = await birthOf(from);
  await shelf.note(path, identity, { sha256, source: label, pinned, brought });
  await rename(from, path);
  await rm(notePathOf(path), { force: true });
  await syncFolder(dirname(path));
}

/** A second name of a file from elsewhere; never written through, unlike a part. */
function linkPathOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.link`);
}

/** Removes what a killed process left and nobody can go on with; the part of a download stays. */
async function removeLeftovers(path: string, work: { dir: string; prefix: string }): Promise<void> {
  const dir = dirname(path);
  const draft = `.${basename(path)}.receipt.json.`;
  for (const name of await readdir(dir)) {
    if (name.startsWith(draft)) await rm(join(dir, name), { force: true });
  }
  await rm(linkPathOf(path), { force: true });
  for (const name of await readdir(work.dir).catch(() => [])) {
    if (!name.startsWith(work.prefix)) continue;
    await rm(join(work.dir, name), { recursive: true, force: true });
  }
}

/** Everything beside the file that belongs to it, besides its receipt. */
export function companionsOf(path: string): string[] {
  return [partPathOf(path), notePathOf(path), `${notePathOf(path)}.new`, linkPathOf(path)];
}

function asFailure(error: unknown): SourceFailure | null {
  if (error instanceof SourceFailure) return error;
  if (isDiskFull(error)) {
    return new SourceFailure("disk", "no space is left on the disk", { cause: error });
  }
  return null;
}
