import { readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { isCommit } from "./hub-names.js";

/** A file of a repository that a program of the hub downloaded earlier. */
export interface CachedFile {
  /** The file itself, behind all links. */
  path: string;
  size: number;
  /**
   * What the hub said of the content when it was downloaded: SHA-256 (64 digits) of a large file, git's blob
   * SHA-1 (40 digits) of a small one; null where the cache does not tell.
   */
  etag: string | null;
}

/**
 * The folder of a repository in the cache. The layout: "Manage your cache" in the documentation of
 * huggingface_hub: `refs/<branch>` holds a commit, `snapshots/<commit>/<path>` links to `blobs/<etag>`.
 */
function repositoryFolder(cacheDir: string, repo: string): string {
  return join(cacheDir, `models--${repo.replace("/", "--")}`);
}

/** The commit that a revision meant when the cache was filled; null when it is not there. */
export async function cachedCommit(
  cacheDir: string,
  repo: string,
  revision: string,
): Promise<string | null> {
  const folder = repositoryFolder(cacheDir, repo);
  const commit = isCommit(revision)
    ? revision
    : (await readFile(join(folder, "refs", revision), "utf8").catch(() => "")).trim();
  if (!isCommit(commit)) return null;
  const snapshot = await stat(join(folder, "snapshots", commit)).catch(() => null);
  return snapshot?.isDirectory() ? commit : null;
}

/** A file of a commit, by its path in the repository; null when the cache does not have it whole. */
export async function cachedFile(
  cacheDir: string,
  repo: string,
  commit: string,
  path: string,
): Promise<CachedFile | null> {
  return readCached(join(repositoryFolder(cacheDir, repo), "snapshots", commit, path));
}

/** A file by what the hub says of its content, whichever commit it came with; null when it is not there. */
export async function cachedContent(
  cacheDir: string,
  repo: string,
  etag: string,
): Promise<CachedFile | null> {
  const found = await readCached(join(repositoryFolder(cacheDir, repo), "blobs", etag));
  return found && { ...found, etag };
}

/** All files of a commit in the cache, by their paths in the repository, sorted. */
export async function cachedFiles(
  cacheDir: string,
  repo: string,
  commit: string,
): Promise<(CachedFile & { name: string })[]> {
  const snapshot = join(repositoryFolder(cacheDir, repo), "snapshots", commit);
  const entries = await readdir(snapshot, { recursive: true, withFileTypes: true });
  const files = [];
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = await readCached(path);
    if (file) files.push({ ...file, name: relative(snapshot, path).split(sep).join("/") });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function readCached(path: string): Promise<CachedFile | null> {
  try {
    const real = await realpath(path);
    const found = await stat(real);
    if (!found.isFile()) return null;
    // The link's own target, not the file behind all links: people move blobs to other disks and link them.
    const target = await readlink(path).catch(() => "");
    return { path: real, size: found.size, etag: etagOf(basename(target)) };
  } catch {
    // A dangling link is a download that was removed or never ended.
    return null;
  }
}

/** The etag when it is a hash of content; anything else says nothing about the file. */
export function etagOf(text: string | null): string | null {
  const etag = (text ?? "").replace(/^W\//, "").replace(/^"(.*)"$/, "$1");
  return /^(?:[0-9a-f]{64}|[0-9a-f]{40})$/.test(etag) ? etag : null;
}
