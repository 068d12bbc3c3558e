import { SourceFailure } from "../failure.js";
import { etagOf } from "./cache.js";
import type { HubConnection } from "./connection.js";
import { isCommit } from "./hub-names.js";
import type { HubSettings } from "./settings.js";

/** What the hub says of one file. */
export interface FileMetadata {
  /** The commit that the revision means now. */
  commit: string;
  size: number | null;
  /** SHA-256 (64 digits) of a large file, git's blob SHA-1 (40 digits) of a small one; null: neither. */
  etag: string | null;
}

/** The address of a file's content. A commit in it keeps it the same content for ever. */
export function contentUrl(
  { endpoint }: HubSettings,
  repo: string,
  revision: string,
  path: string,
): URL {
  const segments = path.split("/").map(encodeURIComponent).join("/");
  return new URL(`${endpoint}/${repo}/resolve/${encodeURIComponent(revision)}/${segments}`);
}

/**
 * Asks what a file is without its content. The headers: hf_hub_download in huggingface_hub.
 *
 * @throws SourceFailure with what to do: gated, not there, rate limited, unreachable
 */
export async function fileMetadata(
  connection: HubConnection,
  settings: HubSettings,
  file: { repo: string; revision: string; path: string },
): Promise<FileMetadata> {
  const url = contentUrl(settings, file.repo, file.revision, file.path);
  const { status, header } = await connection.ask("HEAD", url, file);
  const commit = header("x-repo-commit") ?? "";
  if (!isCommit(commit)) {
    throw new SourceFailure(
      "wrong",
      "the answer does not come from the hub: it names no commit. Check HF_ENDPOINT and the proxy settings",
    );
  }
  // A redirect's own length is not the file's.
  const size = header("x-linked-size") ?? (status < 300 ? header("content-length") : null);
  return {
    commit,
    size: size !== null && /^\d{1,15}$/.test(size) ? Number(size) : null,
    etag: etagOf(header("x-linked-etag") ?? (status < 300 ? header("etag") : null)),
  };
}
