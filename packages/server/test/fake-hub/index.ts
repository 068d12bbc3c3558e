import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { onTestFinished } from "vitest";

/** A repository of the fake hub. */
export interface FakeRepository {
  files: Record<string, Buffer | string>;
  /** 40 hexadecimal digits; one made of the name when absent. */
  commit?: string;
  /** Further branches and tags that mean the commit; "main" always does. */
  revisions?: string[];
  /** Its files need a token that was let in. */
  gated?: "auto" | "manual";
  /** It is not there for anybody without the token. */
  isPrivate?: boolean;
  card?: Record<string, unknown>;
  /** Entries of the tree as they are, instead of those of the files. */
  tree?: unknown[];
}

/** What the hub was asked. */
export interface HubRequest {
  /** The hub itself, or the other host that it sends for content to. */
  at: "hub" | "content";
  method: string;
  url: string;
  authorization: string | null;
  range: string | null;
}

/** How the fake hub behaves. */
export interface FakeHubOptions {
  repositories: Record<string, FakeRepository>;
  /** The one token that it accepts. */
  token?: string;
  /** Whether that token was let into gated repositories. */
  letsIn?: boolean;
  /** Entries on a page of a listing. */
  pageSize?: number;
  /** Answers before everything else; false lets the hub go on. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A server that behaves as the Hugging Face hub does, on loopback, with its content on another host. */
export interface FakeHub {
  endpoint: string;
  /** An environment that leads to it and to a cache of its own, and to nothing of this machine. */
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  requests: HubRequest[];
  commitOf(repo: string): string;
}

/** What is larger is not in git itself: the hub knows it by its SHA-256 and keeps it elsewhere. */
const LARGEST_IN_GIT = 1_000;

/** Starts a fake hub that is gone after the test. */
export async function startFakeHub(options: FakeHubOptions): Promise<FakeHub> {
  const home = await mkdtemp(join(tmpdir(), "somnus-hub-"));
  const requests: HubRequest[] = [];
  const note = (at: HubRequest["at"], request: IncomingMessage) =>
    requests.push({
      at,
      method: request.method ?? "",
      url: request.url ?? "",
      authorization: request.headers.authorization ?? null,
      range: request.headers.range ?? null,
    });

  const content = await listen((request, response) => {
    note("content", request);
    const [, repo = "", path = ""] =
      /^\/content\/([^/]+\/[^/]+)\/(.*)$/.exec(request.url ?? "") ?? [];
    const file = options.repositories[repo]?.files[decodeURIComponent(path)];
    if (file === undefined) response.writeHead(404).end();
    else sendBytes(request, response, Buffer.from(file), {});
  });
  const hub = await listen((request, response) => {
    note("hub", request);
    if (options.intercept?.(request, response)) return;
    answer(request, response, { options, hub: hub.origin, content: content.origin });
  });
  onTestFinished(async () => {
    await Promise.all([hub.close(), content.close()]);
    await rm(home, { recursive: true, force: true });
  });
  const hubHome = join(home, "hf");
  return {
    endpoint: hub.origin,
    env: { HOME: home, HF_HOME: hubHome, HF_ENDPOINT: hub.origin },
    cacheDir: join(hubHome, "hub"),
    requests,
    commitOf: (repo) => commitOf(repo, options.repositories[repo]!),
  };
}

/** Writes a file into a hub cache as the hub's own programs lay it out; gives the blob's path. */
export async function cacheFile(
  cacheDir: string,
  file: {
    repo: string;
    commit: string;
    path: string;
    content: Buffer | string;
    branch?: string;
    /** Another name for the blob than what its content has. */
    etag?: string;
  },
): Promise<string> {
  const bytes = Buffer.from(file.content);
  const folder = join(cacheDir, `models--${file.repo.replace("/", "--")}`);
  const blob = join(folder, "blobs", file.etag ?? etagOf(bytes));
  const snapshot = join(folder, "snapshots", file.commit, file.path);
  await mkdir(dirname(blob), { recursive: true });
  await mkdir(dirname(snapshot), { recursive: true });
  await writeFile(blob, bytes);
  await symlink(relative(dirname(snapshot), blob), snapshot);
  const ref = join(folder, "refs", file.branch ?? "main");
  await mkdir(dirname(ref), { recursive: true });
  await writeFile(ref, file.commit);
  return blob;
}

/** SHA-256, lower-case hex. */
export function sha256Of(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function commitOf(repo: string, { commit }: FakeRepository): string {
  return commit ?? createHash("sha1").update(repo).digest("hex");
}

function gitBlob(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

function etagOf(bytes: Buffer): string {
  return bytes.length > LARGEST_IN_GIT ? sha256Of(bytes) : gitBlob(bytes);
}

interface Hosts {
  options: FakeHubOptions;
  hub: string;
  content: string;
}

function answer(request: IncomingMessage, response: ServerResponse, hosts: Hosts): ServerResponse {
  const { options } = hosts;
  const url = new URL(request.url ?? "/", hosts.hub);
  const api =
    /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(url.pathname) ??
    /^\/([^/]+\/[^/]+)\/(resolve)\/([^/]+)\/(.+)$/.exec(url.pathname);
  if (!api) return refuse(response, 404, null, "Not found");
  const [, name = "", kind, rawRevision = "", rawPath = ""] = api;
  const revision = decodeURIComponent(rawRevision);
  const given = request.headers.authorization;
  const isSignedIn = options.token !== undefined && given === `Bearer ${options.token}`;
  if (given !== undefined && !isSignedIn) {
    return refuse(response, 401, null, "Invalid credentials in Authorization header");
  }
  const repository = options.repositories[name];
  if (!repository || (repository.isPrivate && !isSignedIn)) {
    return refuse(response, isSignedIn ? 404 : 401, "RepoNotFound", "Repository not found");
  }
  const commit = commitOf(name, repository);
  if (!["main", commit, ...(repository.revisions ?? [])].includes(revision)) {
    return refuse(response, 404, "RevisionNotFound", `Invalid rev id: ${revision}`);
  }
  if (kind === "revision") {
    return sendJson(response, {
      _id: "621ffdc036468d709f174328",
      id: name,
      sha: commit,
      private: repository.isPrivate === true,
      gated: repository.gated ?? false,
      downloads: 1,
      likes: 1,
      lastModified: "2026-01-01T00:00:00.000Z",
      cardData: repository.card ?? {},
    });
  }
  if (kind === "tree") return sendTree(url, response, repository, hosts);
  if (repository.gated && !(isSignedIn && options.letsIn)) {
    const status = isSignedIn ? 403 : 401;
    return refuse(response, status, "GatedRepo", `Access to model ${name} is restricted.`);
  }
  const path = decodeURIComponent(rawPath);
  const file = repository.files[path];
  if (file === undefined) return refuse(response, 404, "EntryNotFound", "Entry not found");
  const bytes = Buffer.from(file);
  const etag = etagOf(bytes);
  const known = { "x-repo-commit": commit, etag: `"${etag}"` };
  if (bytes.length <= LARGEST_IN_GIT) return sendBytes(request, response, bytes, known);
  return response
    .writeHead(302, {
      ...known,
      etag: '"not-of-the-file"',
      "x-linked-etag": `"${etag}"`,
      "x-linked-size": String(bytes.length),
      location: `${hosts.content}/content/${name}/${encodeURIComponent(path)}`,
    })
    .end();
}

function sendTree(
  url: URL,
  response: ServerResponse,
  repository: FakeRepository,
  { options, hub }: Hosts,
): ServerResponse {
  const entries = repository.tree ?? [
    { type: "directory", oid: "0".repeat(40), size: 0, path: "a-folder" },
    ...Object.entries(repository.files).map(([path, file]) => {
      const bytes = Buffer.from(file);
      const entry = { type: "file", oid: gitBlob(bytes), size: bytes.length, path };
      if (bytes.length <= LARGEST_IN_GIT) return entry;
      return {
        ...entry,
        lfs: { oid: sha256Of(bytes), size: bytes.length, pointerSize: 134 },
        xetHash: "0".repeat(64),
      };
    }),
  ];
  const start = Number(url.searchParams.get("cursor") ?? 0);
  const end = start + (options.pageSize ?? 1_000);
  if (end < entries.length) {
    url.searchParams.set("cursor", String(end));
    response.setHeader("link", `<${hub}${url.pathname}${url.search}>; rel="next"`);
  }
  return sendJson(response, entries.slice(start, end));
}

function sendBytes(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  headers: Record<string, string>,
): ServerResponse {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const start = Number(range?.[1] ?? 0);
  const end = range?.[2] ? Math.min(Number(range[2]) + 1, bytes.length) : bytes.length;
  response.writeHead(range ? 206 : 200, {
    ...headers,
    "accept-ranges": "bytes",
    "content-length": String(end - start),
    ...(range ? { "content-range": `bytes ${start}-${end - 1}/${bytes.length}` } : {}),
  });
  return response.end(request.method === "HEAD" ? undefined : bytes.subarray(start, end));
}

function sendJson(response: ServerResponse, value: unknown): ServerResponse {
  response.setHeader("content-type", "application/json; charset=utf-8");
  return response.end(JSON.stringify(value));
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string | null,
  message: string,
): ServerResponse {
  response.writeHead(status, {
    ...(code === null ? {} : { "x-error-code": code }),
    "x-error-message": message,
    "content-type": "application/json",
  });
  return response.end(JSON.stringify({ error: message }));
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
