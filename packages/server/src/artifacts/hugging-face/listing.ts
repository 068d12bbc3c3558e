import { SomnusError } from "../../http/errors.js";
import { SourceFailure } from "../failure.js";
import { cachedCommit, cachedFiles } from "./cache.js";
import { connectHub, type HubConnection, type HubPatience } from "./connection.js";
import { isCommit, isRepositoryPath, requireNames } from "./hub-names.js";
import type { HubQuestion } from "./refusal.js";
import { type HubSettings, readHubSettings } from "./settings.js";

/** What a repository of the hub holds at one commit. */
export interface RepositoryListing {
  /** "owner/name" as the hub spells it, also when it was asked for in other letters or by an old name. */
  repo: string;
  /** The commit that the revision meant. */
  commit: string;
  /** Whether its licence must be accepted on its page before files can be had. */
  gated: boolean;
  /** As its page names it: "apache-2.0". Null when it names none. */
  license: string | null;
  /** Files only, sorted by path. `sha256` is null for small files, which the hub knows by another hash. */
  files: RepositoryFile[];
  /** Whether this was read from the cache, because no request may be made. */
  fromCache: boolean;
}

/** One file of a repository. */
export interface RepositoryFile {
  /** Inside the repository, forward slashes. */
  path: string;
  size: number;
  sha256: string | null;
}

/** No repository of models has more; whoever lists more does not mean well. */
const MOST_FILES = 100_000;
const MOST_PAGES = 1_000;

/**
 * Lists a repository of the Hugging Face hub at a branch, tag or commit. With HF_HUB_OFFLINE the files are those
 * in the cache.
 *
 * @throws SomnusError `model_unavailable` with what to do: no such repository or revision, gated, rate limited,
 *   unreachable, not in the cache; the signal's reason when aborted
 */
export async function listRepository(
  repo: string,
  revision: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  patience?: HubPatience,
): Promise<RepositoryListing> {
  signal.throwIfAborted();
  try {
    requireNames({ repo, revision });
    const settings = await readHubSettings(env);
    if (settings.offline) return await listCached(repo, revision, settings);
    const connection = connectHub(settings, env, signal, patience);
    try {
      return await listOnHub(repo, revision, settings, connection);
    } finally {
      await connection.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SourceFailure)) throw error;
    throw new SomnusError(
      "model_unavailable",
      `${repo} cannot be listed: ${error.message.replace(/\.$/, "")}.`,
      { cause: error },
    );
  }
}

async function listCached(
  repo: string,
  revision: string,
  { cacheDir }: HubSettings,
): Promise<RepositoryListing> {
  const commit = await cachedCommit(cacheDir, repo, revision);
  if (commit === null) {
    throw new SourceFailure(
      "wrong",
      `HF_HUB_OFFLINE is set, and the cache ${cacheDir} does not have it at ${revision}. ` +
        "Unset HF_HUB_OFFLINE to ask the hub",
    );
  }
  const files = (await cachedFiles(cacheDir, repo, commit)).map(({ name, size, etag }) => ({
    path: name,
    size,
    sha256: etag?.length === 64 ? etag : null,
  }));
  return { repo, commit, gated: false, license: null, files, fromCache: true };
}

async function listOnHub(
  repo: string,
  revision: string,
  { endpoint }: HubSettings,
  connection: HubConnection,
): Promise<RepositoryListing> {
  // Loaded when it is needed: a server that serves what is here never is.
  const { listFiles, modelInfo } = await import("@huggingface/hub");
  const about = { repo, revision };
  const access = { hubUrl: endpoint, fetch: fetchBy(connection, about) };
  try {
    // What came is unchecked, whatever the client's types say.
    const info: Record<"name" | "sha" | "gated" | "cardData", unknown> = await modelInfo({
      name: repo,
      revision,
      additionalFields: ["sha", "cardData"],
      ...access,
    }).then(({ name, sha, gated, cardData }) => ({ name, sha, gated, cardData }));
    const name = typeof info.name === "string" ? info.name : repo;
    const commit = String(info.sha);
    if (!isCommit(commit)) throw noListing("it names no commit");
    requireNames({ repo: name, revision: commit });
    const files: RepositoryFile[] = [];
    const tree = listFiles({
      repo: { type: "model", name },
      revision: commit,
      recursive: true,
      ...access,
    });
    for await (const entry of tree) {
      const file = fileOf(entry);
      if (file) files.push(file);
      if (files.length > MOST_FILES) throw noListing("it has no end");
    }
    return {
      repo: name,
      commit,
      gated: info.gated === true || info.gated === "auto" || info.gated === "manual",
      license: licenseOf(info.cardData),
      files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
      fromCache: false,
    };
  } catch (error) {
    if (error instanceof SourceFailure || !isUnreadable(error)) throw error;
    throw noListing("it is not in the hub's form", error);
  }
}

/** The connection as the hub's client wants it. Whatever is no success has been thrown before it sees it. */
function fetchBy(connection: HubConnection, about: HubQuestion): typeof fetch {
  let pages = 0;
  return async (input) => {
    pages += 1;
    if (pages > MOST_PAGES) throw noListing("it has no end");
    const { text, header } = await connection.ask("GET", new URL(String(input)), about);
    const link = header("link");
    return new Response(text, link === null ? {} : { headers: { link } });
  };
}

/** An entry of the tree as a file; null for folders and for names that no file can have here. */
function fileOf(entry: {
  type?: unknown;
  path?: unknown;
  size?: unknown;
  lfs?: { oid?: unknown; size?: unknown };
}): RepositoryFile | null {
  const size = entry.lfs?.size ?? entry.size;
  if (entry.type !== "file" || typeof entry.path !== "string" || !isRepositoryPath(entry.path)) {
    return null;
  }
  if (!Number.isSafeInteger(size) || (size as number) < 0) return null;
  const oid = entry.lfs?.oid;
  return {
    path: entry.path,
    size: size as number,
    sha256: typeof oid === "string" && /^[0-9a-f]{64}$/.test(oid) ? oid : null,
  };
}

function licenseOf(card: unknown): string | null {
  const { license, license_name: name } = (card ?? {}) as Record<string, unknown>;
  // "other" stands for a name of its own beside it.
  const stated = license === "other" && typeof name === "string" ? name : license;
  const text = Array.isArray(stated) ? stated.join(", ") : stated;
  return typeof text === "string" && /^[\x20-\x7e]{1,100}$/.test(text) ? text : null;
}

function noListing(reason: string, cause?: unknown): SourceFailure {
  return new SourceFailure(
    "wrong",
    `the hub's answer is no listing: ${reason}. Check HF_ENDPOINT and the proxy settings`,
    { cause },
  );
}

/** What the client throws when an answer is no JSON or of another shape than it expects. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof TypeError;
}
