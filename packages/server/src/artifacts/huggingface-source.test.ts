import { lstat, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  cacheFile,
  type FakeHub,
  type FakeHubOptions,
  sha256Of,
  startFakeHub,
} from "../../test/fake-hub/index.js";
import type { Progress } from "../observe/index.js";
import { payload } from "./__fixtures__/payload.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { type Artifact, type ArtifactSpec, createArtifacts } from "./index.js";

const never = new AbortController().signal;
const REPO = "owner/model";
const PATH = "quants/model.gguf";
const TOKEN = "hf_secret";
const large = payload(300_000);
const limits = { stallMs: 2_000, patientMs: 2_000, retries: 1, backoffMs: 1 };

function startHub(options: Partial<FakeHubOptions> = {}): Promise<FakeHub> {
  const files = { [PATH]: large, "config.json": '{"small": true}' };
  return startFakeHub({ repositories: { [REPO]: { files } }, ...options });
}

/** The spec of a file of the repository, unpinned unless a test says what is known. */
function fileOf(path = PATH, known: Partial<ArtifactSpec> & { revision?: string } = {}) {
  const { revision, ...spec } = known;
  const source = {
    type: "huggingface" as const,
    repo: REPO,
    path,
    ...(revision ? { revision } : {}),
  };
  return { file: "model.bin", size: null, sha256: null, sources: [source], ...spec };
}

async function fetchFrom(hub: FakeHub, spec: ArtifactSpec, env: NodeJS.ProcessEnv = {}) {
  const dir = await tempDir();
  const steps: Progress[] = [];
  const outcome = await createArtifacts({ env: { ...hub.env, ...env }, limits })
    .fetch(spec, dir, (progress) => steps.push(progress), never)
    .catch((error: unknown) => error as Error);
  return { dir, outcome, steps, path: join(dir, "model.bin") };
}

async function refusalOf(hub: FakeHub, spec: ArtifactSpec, env: NodeJS.ProcessEnv = {}) {
  const { outcome, dir } = await fetchFrom(hub, spec, env);
  expect(outcome).toMatchObject({ code: "model_unavailable" });
  expect((await readdir(dir)).filter((name) => !name.startsWith("."))).toEqual([]);
  return (outcome as Error).message;
}

describe("a file of the hub", () => {
  it("comes from the host that the hub names, checked by the hub's SHA-256, and the token stays at the hub", async () => {
    const hub = await startHub({ token: TOKEN });
    const { outcome, path } = await fetchFrom(hub, fileOf(), { HF_TOKEN: TOKEN });
    expect(outcome).toMatchObject({
      size: large.length,
      sha256: sha256Of(large),
      pinnedBy: "source",
      cached: false,
    });
    expect((await readFile(path)).equals(large)).toBe(true);
    const at = (host: "hub" | "content") => hub.requests.filter((request) => request.at === host);
    expect(at("hub").every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
    expect(at("content").length).toBeGreaterThan(0);
    expect(at("content").every(({ authorization }) => authorization === null)).toBe(true);
  });

  it("is taken from the commit that the branch meant when it was asked for", async () => {
    const hub = await startHub();
    await fetchFrom(hub, fileOf());
    const gets = hub.requests.filter(({ at, method }) => at === "hub" && method === "GET");
    expect(gets.map(({ url }) => url)).toEqual([
      `/${REPO}/resolve/${hub.commitOf(REPO)}/quants/model.gguf`,
    ]);
  });

  it("comes from a mirror that keeps the content itself", async () => {
    const hub = await startHub({
      intercept({ url, headers }, response) {
        if (url?.startsWith("/content/")) {
          const start = Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0);
          response.writeHead(start > 0 ? 206 : 200).end(large.subarray(start));
          return true;
        }
        const write = response.writeHead.bind(response);
        response.writeHead = ((status: number, fields: Record<string, string>) => {
          const { location } = fields;
          const here = location ? { location: new URL(location).pathname } : {};
          return write(status, { ...fields, ...here });
        }) as typeof response.writeHead;
        return false;
      },
    });
    const { outcome } = await fetchFrom(hub, fileOf());
    expect(outcome).toMatchObject({ sha256: sha256Of(large), pinnedBy: "source" });
  });

  it("is checked by git's own hash when it is small", async () => {
    const hub = await startHub();
    const { outcome } = await fetchFrom(hub, fileOf("config.json"));
    expect(outcome).toMatchObject({ size: 15 });

    const lying = await startHub({
      intercept({ url, method }, response) {
        if (method !== "GET" || !url?.endsWith("config.json")) return false;
        response.end('{"small": TRUE}');
        return true;
      },
    });
    expect(await refusalOf(lying, fileOf("config.json"))).toMatch(/git's SHA-1/);
  });

  it("is refused when the hub has another content than the spec, before it is fetched", async () => {
    const hub = await startHub();
    const message = await refusalOf(hub, fileOf(PATH, { sha256: "0".repeat(64) }));
    expect(message).toContain(`SHA-256 ${sha256Of(large)} instead of ${"0".repeat(64)}`);
    expect(hub.requests.filter(({ at }) => at === "content")).toEqual([]);
  });

  it.each<[string, Partial<FakeHubOptions>, string | undefined, RegExp[]]>([
    [
      "without a token",
      {},
      undefined,
      [
        /is gated: open http:\S+\/owner\/model, accept its licence, create a token/,
        /`hf auth login`/,
      ],
    ],
    [
      "with a token that was not let in",
      { token: TOKEN },
      TOKEN,
      [/is gated, and the token in use has no access/, /accept its licence/],
    ],
  ])("of a gated repository says what to do %s", async (_, options, token, reasons) => {
    const repository = { files: { [PATH]: large }, gated: "manual" as const };
    const hub = await startHub({ ...options, repositories: { [REPO]: repository } });
    const message = await refusalOf(hub, fileOf(), token === undefined ? {} : { HF_TOKEN: token });
    for (const reason of reasons) expect(message).toMatch(reason);
    expect(message).not.toContain(TOKEN);
  });

  it("of a gated repository comes with a token that was let in", async () => {
    const repository = { files: { [PATH]: large }, gated: "auto" as const };
    const hub = await startHub({
      repositories: { [REPO]: repository },
      token: TOKEN,
      letsIn: true,
    });
    const { outcome } = await fetchFrom(hub, fileOf(), { HF_TOKEN: TOKEN });
    expect(outcome).toMatchObject({ sha256: sha256Of(large) });
  });

  it.each<[string, ReturnType<typeof fileOf>, RegExp]>([
    [
      "that is not there",
      fileOf("none.gguf"),
      /does not have the file none\.gguf at revision main/,
    ],
    ["of a revision that is not there", fileOf(PATH, { revision: "v9" }), /no revision "v9"/],
    ["with a name that leads out", fileOf("../../secret"), /not a path inside a repository/],
  ])("%s is named", async (_, spec, reason) => {
    expect(await refusalOf(await startHub(), spec)).toMatch(reason);
  });

  it("is not taken from a proxy that answers for the hub", async () => {
    const hub = await startHub({
      intercept(_, response) {
        response.end("<!doctype html>");
        return true;
      },
    });
    expect(await refusalOf(hub, fileOf())).toMatch(/names no commit/);
  });
});

it("a small file is vouched for by the hub's own name of its content", async () => {
  const { outcome } = await fetchFrom(await startHub(), fileOf("config.json"));
  expect(outcome).toMatchObject({ size: 15, pinnedBy: "source" });
});

describe("a file in the hub's cache", () => {
  async function withCached(known: { content?: Buffer; etag?: string; path?: string } = {}) {
    const hub = await startHub();
    const { content = large, path = PATH, etag } = known;
    const commit = hub.commitOf(REPO);
    const blob = await cacheFile(hub.cacheDir, {
      repo: REPO,
      commit,
      path,
      content,
      ...(etag === undefined ? {} : { etag }),
    });
    return { hub, blob, commit };
  }

  it("is used without a request and without a copy when its hash is known", async () => {
    const { hub, blob } = await withCached();
    const { outcome, path } = await fetchFrom(hub, fileOf(PATH, { sha256: sha256Of(large) }));
    expect(outcome).toMatchObject({ sha256: sha256Of(large), pinnedBy: "spec" });
    expect(hub.requests).toEqual([]);
    expect((await stat(path)).ino).toBe((await stat(blob)).ino);
    expect((await lstat(path)).isSymbolicLink()).toBe(false);
  });

  it("is used without a request when the revision is a commit", async () => {
    const { hub, commit } = await withCached();
    const { outcome } = await fetchFrom(hub, fileOf(PATH, { revision: commit }));
    expect(outcome).toMatchObject({ sha256: sha256Of(large), pinnedBy: "source" });
    expect(hub.requests).toEqual([]);
  });

  it("is used for a branch when the hub still has the same", async () => {
    const { hub, blob } = await withCached();
    const { path } = await fetchFrom(hub, fileOf());
    expect(hub.requests.map(({ method }) => method)).toEqual(["HEAD"]);
    expect((await stat(path)).ino).toBe((await stat(blob)).ino);
  });

  it("is checked whatever the cache calls it, and fetched when it is damaged", async () => {
    const { hub } = await withCached({ content: payload(300_000, 7), etag: sha256Of(large) });
    const { outcome, path } = await fetchFrom(hub, fileOf(PATH, { revision: hub.commitOf(REPO) }));
    expect(outcome).toMatchObject({ sha256: sha256Of(large) });
    expect((await readFile(path)).equals(large)).toBe(true);
    expect(hub.requests.filter(({ at }) => at === "content").length).toBeGreaterThan(0);
  });

  it("is used offline, and only what is there", async () => {
    const { hub } = await withCached();
    const offline = { HF_HUB_OFFLINE: "1" };
    const { outcome } = await fetchFrom(hub, fileOf(), offline);
    expect(outcome).toMatchObject({ sha256: sha256Of(large) });
    const message = await refusalOf(hub, fileOf("other.gguf"), offline);
    expect(message).toMatch(
      /HF_HUB_OFFLINE is set, and other\.gguf of owner\/model is not in the cache/,
    );
    expect(hub.requests).toEqual([]);
  });

  it("is named when it is damaged and nothing else can be had", async () => {
    const { hub, blob } = await withCached({ content: payload(9_000), etag: sha256Of(large) });
    const message = await refusalOf(hub, fileOf(), { HF_HUB_OFFLINE: "1" });
    expect(message).toContain(blob);
    expect(message).toMatch(/is not the right one/);
  });

  it("of a small file is checked by git's hash", async () => {
    const { hub } = await withCached({ content: Buffer.from("{}"), path: "config.json" });
    const offline = { HF_HUB_OFFLINE: "1" };
    const { outcome } = await fetchFrom(hub, fileOf("config.json"), offline);
    expect(outcome).toMatchObject({ sha256: sha256Of("{}"), pinnedBy: "source" });
  });

  it("that its program never finished is fetched", async () => {
    const { hub, blob } = await withCached({ content: Buffer.from("x"), path: "quants/other" });
    const dangling = join(blob, "../../snapshots", hub.commitOf(REPO), PATH);
    await symlink("../../../blobs/none", dangling);
    const { outcome } = await fetchFrom(hub, fileOf(PATH, { revision: hub.commitOf(REPO) }));
    expect((outcome as Artifact).cached).toBe(false);
    expect(hub.requests.length).toBeGreaterThan(0);
  });
});
