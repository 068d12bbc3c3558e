import { rm } from "node:fs/promises";
import type { HuggingFaceSource } from "../artifact.js";
import { download } from "../download/download.js";
import { SourceFailure } from "../failure.js";
import { type CachedFile, cachedCommit, cachedContent, cachedFile } from "../hugging-face/cache.js";
import { connectHub } from "../hugging-face/connection.js";
import { hashContent, isGitBlob, otherContent } from "../hugging-face/content-hash.js";
import { contentUrl, type FileMetadata, fileMetadata } from "../hugging-face/file-metadata.js";
import { isCommit, requireNames } from "../hugging-face/hub-names.js";
import { type HubSettings, readHubSettings } from "../hugging-face/settings.js";
import { useCached } from "../hugging-face/use-cached.js";
import type { Part } from "../part/part.js";
import type { Attempt } from "./attempt.js";

/** The names of one file, its revision settled. */
interface HubFile {
  repo: string;
  revision: string;
  path: string;
}

/** Tries of one question before the source counts as busy. */
const PATIENT_TRIES = 4;

/**
 * Brings a file of the Hugging Face hub: out of the hub's own cache when it is there, else from the commit that the
 * revision means now, checked by what the hub says of the file. The token goes to the hub only.
 */
export async function bringHuggingFace(source: HuggingFaceSource, attempt: Attempt): Promise<void> {
  const file: HubFile = {
    repo: source.repo,
    revision: source.revision ?? "main",
    path: source.path,
  };
  requireNames(file);
  const settings = await readHubSettings(attempt.env);
  const known = await knownCached(file, settings, attempt);
  if (known !== null && (await tryCached(known, settings, attempt))) return;
  if (settings.offline) {
    throw new SourceFailure(
      "wrong",
      `HF_HUB_OFFLINE is set, and ${file.path} of ${file.repo} is not in the cache ${settings.cacheDir}. ` +
        "Unset HF_HUB_OFFLINE to fetch it",
    );
  }
  const metadata = await askMetadata(file, settings, attempt);
  const same = known === null ? await sameCached(file, metadata, settings) : null;
  if (same !== null && (await tryCached(same, settings, attempt))) return;
  await downloadFrom(file, metadata, settings, attempt);
}

/** The file in the cache as far as it can be found without asking the hub what the revision means now. */
async function knownCached(
  { repo, revision, path }: HubFile,
  { cacheDir, offline }: HubSettings,
  { spec }: Attempt,
): Promise<CachedFile | null> {
  const byContent = spec.sha256 === null ? null : await cachedContent(cacheDir, repo, spec.sha256);
  if (byContent !== null || (!offline && !isCommit(revision))) return byContent;
  const commit = await cachedCommit(cacheDir, repo, revision);
  return commit === null ? null : cachedFile(cacheDir, repo, commit, path);
}

/** The file in the cache that is what the hub has now. */
async function sameCached(
  { repo, path }: HubFile,
  { commit, etag }: FileMetadata,
  { cacheDir }: HubSettings,
): Promise<CachedFile | null> {
  const byContent = etag === null ? null : await cachedContent(cacheDir, repo, etag);
  return byContent ?? cachedFile(cacheDir, repo, commit, path);
}

/** Whether the cached file could be used. A damaged one is passed over, unless there is no other. */
async function tryCached(
  cached: CachedFile,
  { offline }: HubSettings,
  attempt: Attempt,
): Promise<boolean> {
  try {
    await useCached(cached, attempt);
    return true;
  } catch (error) {
    if (!(error instanceof SourceFailure) || error.kind !== "wrong") throw error;
    if (offline) {
      throw new SourceFailure(
        "wrong",
        `the file in the cache, ${cached.path}, is not the right one: ${error.message}. Delete it, and unset HF_HUB_OFFLINE`,
        { cause: error },
      );
    }
    attempt.log.warn(
      { file: attempt.spec.file, cached: cached.path, reason: error.message },
      "a file of the hub's cache is passed over",
    );
    attempt.transfer.note(null);
    attempt.transfer.resumed(0);
    return false;
  }
}

async function askMetadata(
  file: HubFile,
  settings: HubSettings,
  { env, limits, log, patient, reach, signal, spec }: Attempt,
): Promise<FileMetadata> {
  const { host } = new URL(settings.endpoint);
  const known = reach.passedOver(host);
  if (known) throw new SourceFailure("unreachable", known.reason);
  const connection = connectHub(settings, env, signal, {
    connectMs: limits.reachMs,
    stallMs: patient ? limits.patientMs : limits.stallMs,
    tries: patient ? PATIENT_TRIES : 1,
  });
  try {
    const metadata = await fileMetadata(connection, settings, file);
    log.debug({ file: spec.file, ...metadata }, "the hub knows the file");
    return metadata;
  } catch (error) {
    if (error instanceof SourceFailure && error.kind === "unreachable") {
      reach.unreachable(host, error.message, false);
    }
    throw error;
  } finally {
    await connection.close();
  }
}

async function downloadFrom(
  { repo, path }: HubFile,
  { commit, size, etag }: FileMetadata,
  settings: HubSettings,
  attempt: Attempt,
): Promise<void> {
  let part: Part | null = null;
  const watched: Attempt = {
    ...attempt,
    async openPart(told) {
      part = await attempt.openPart(told);
      return part;
    },
  };
  await download(
    {
      url: contentUrl(settings, repo, commit, path),
      label: `huggingface ${repo}/${path}`,
      expect: { size, sha256: etag?.length === 64 ? etag : null },
      ...(settings.token === null
        ? {}
        : { headers: { authorization: `Bearer ${settings.token}` } }),
    },
    watched,
  );
  const sealed = (part as Part | null)?.sealed;
  if (!isGitBlob(etag) || attempt.spec.sha256 !== null || !sealed) return;
  const { gitBlob } = await hashContent({ ...sealed, etag }, attempt.signal);
  if (gitBlob === etag) {
    attempt.linked(sealed, { sha256: sealed.sha256 });
    return;
  }
  // Kept, it would be taken for a whole download of the right file.
  await rm(sealed.path, { force: true });
  throw new SourceFailure("wrong", otherContent(gitBlob, etag));
}
