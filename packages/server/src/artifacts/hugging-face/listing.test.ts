import { expect, it } from "vitest";
import { type FakeHubOptions, sha256Of, startFakeHub } from "../../../test/fake-hub/index.js";
import { listRepository } from "./listing.js";

const never = new AbortController().signal;
const large = Buffer.alloc(5_000, "large");
const REPO = "owner/model";
const TOKEN = "any-form-a-mirror-likes";

async function refusalOf(
  options: Partial<FakeHubOptions>,
  { repo = REPO, revision = "main", env = {} as NodeJS.ProcessEnv } = {},
): Promise<string> {
  const hub = await startFakeHub({
    repositories: { [REPO]: { files: { "a.gguf": large } } },
    ...options,
  });
  const error = await listRepository(repo, revision, { ...hub.env, ...env }, never).catch(
    (error: unknown) => error,
  );
  expect(error).toMatchObject({ code: "model_unavailable" });
  return (error as Error).message;
}

it("gives the files of the commit that a branch means, over all pages", async () => {
  const names = Array.from({ length: 25 }, (_, i) => `part-${String(i).padStart(2, "0")}.txt`);
  const files = { ...Object.fromEntries(names.map((name) => [name, "small"])), "q/a.gguf": large };
  const hub = await startFakeHub({
    repositories: {
      [REPO]: { files, revisions: ["v1/final"], gated: "auto", card: { license: "apache-2.0" } },
    },
    pageSize: 10,
  });
  const listing = await listRepository(REPO, "v1/final", hub.env, never);
  expect(listing).toMatchObject({
    repo: REPO,
    commit: hub.commitOf(REPO),
    gated: true,
    license: "apache-2.0",
    fromCache: false,
  });
  expect(listing.files.map(({ path }) => path)).toEqual([...names, "q/a.gguf"]);
  expect(listing.files.at(-1)).toEqual({
    path: "q/a.gguf",
    size: large.length,
    sha256: sha256Of(large),
  });
  expect(listing.files[0]).toEqual({ path: "part-00.txt", size: 5, sha256: null });
  const pages = hub.requests.filter(({ url }) => url.includes("/tree/"));
  expect(pages).toHaveLength(3);
  expect(pages.every(({ url }) => url.includes(`/tree/${hub.commitOf(REPO)}?`))).toBe(true);
});

it("uses the token for a private repository, whatever its form", async () => {
  const hub = await startFakeHub({
    repositories: { [REPO]: { files: { "a.gguf": large }, isPrivate: true } },
    token: TOKEN,
  });
  const listing = await listRepository(REPO, "main", { ...hub.env, HF_TOKEN: TOKEN }, never);
  expect(listing.files).toHaveLength(1);
  expect(hub.requests.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
});

it("names a licence that has a name of its own", async () => {
  const card = { license: "other", license_name: "some-community-license" };
  const hub = await startFakeHub({ repositories: { [REPO]: { files: {}, card } } });
  const { license } = await listRepository(REPO, "main", hub.env, never);
  expect(license).toBe("some-community-license");
});

it("passes over entries of the tree that no file can have", async () => {
  const bad = ["../up", "/abs", "a/../../b", "a\u0000b", "a\nb", "a\\b", "", "a//b"];
  const tree = [
    ...bad.map((path) => ({ type: "file", path, size: 1 })),
    { type: "file", path: "negative", size: -1 },
    { type: "file", path: "text", size: "1" },
    { type: "file", path: "good.gguf", size: 1, lfs: { oid: "not a hash", size: 7 } },
    { type: "file", path: 7, size: 1 },
    { type: "directory", path: "folder", size: 0 },
    {},
  ];
  const hub = await startFakeHub({ repositories: { [REPO]: { files: {}, tree } } });
  const { files } = await listRepository(REPO, "main", hub.env, never);
  expect(files).toEqual([{ path: "good.gguf", size: 7, sha256: null }]);
});

it.each<[string, Parameters<typeof refusalOf>, RegExp[]]>([
  [
    "a repository that is not there",
    [{}, { repo: "owner/other" }],
    [
      /no repository owner\/other/,
      /Check the spelling/,
      /set HF_TOKEN to it or run `hf auth login`/,
    ],
  ],
  [
    "one that is not there for the token in use",
    [{ token: TOKEN }, { repo: "owner/other", env: { HF_TOKEN: TOKEN } }],
    [/no repository owner\/other/, /the token in use may not read it/],
  ],
  ["a revision that is not there", [{}, { revision: "v9" }], [/has no revision "v9"/]],
  ["a token that is refused", [{}, { env: { HF_TOKEN: "old" } }], [/does not accept the token/]],
  ["a name that is none", [{}, { repo: "../.." }], [/not the name of a repository/]],
  ["a revision that leads elsewhere", [{}, { revision: "../x" }], [/not the name of a revision/]],
  [
    "an endpoint without https",
    [{}, { env: { HF_ENDPOINT: "http://192.0.2.1" } }],
    [/HF_ENDPOINT/],
  ],
  [
    "an endpoint where nothing answers",
    [{}, { env: { HF_ENDPOINT: "http://127.0.0.1:1" } }],
    [/cannot be reached: the connection was refused/, /HF_HUB_OFFLINE=1/],
  ],
])("says what to do about %s", async (_, asked, reasons) => {
  const message = await refusalOf(...asked);
  for (const reason of reasons) expect(message).toMatch(reason);
});

it.each<[string, NonNullable<FakeHubOptions["intercept"]>, RegExp]>([
  [
    "a web page",
    (_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html>sign in");
      return true;
    },
    /no listing/,
  ],
  [
    "a listing without an end",
    ({ url, headers }, response) => {
      if (!url?.includes("/tree/")) return false;
      response.setHeader("link", `<http://${headers.host}${url}>; rel="next"`);
      response.end("[]");
      return true;
    },
    /no end/,
  ],
  [
    "a listing of another form",
    ({ url }, response) => {
      if (!url?.includes("/tree/")) return false;
      response.end('{"error": null}');
      return true;
    },
    /not in the hub's form/,
  ],
  [
    "a redirect out of https",
    (_, response) => {
      response.writeHead(307, { location: "http://192.0.2.1/api" }).end();
      return true;
    },
    /not https/,
  ],
  [
    "a wait that is too long for it",
    (_, response) => {
      response.writeHead(429, { ratelimit: '"api";r=0;t=3600' }).end();
      return true;
    },
    /allows no more requests for now; try again in 3600 s\. Signed in, more are allowed/,
  ],
])("gives up on %s", async (_, intercept, reason) => {
  expect(await refusalOf({ intercept })).toMatch(reason);
});

it("asks a busy hub again after the time that it names, and follows a renamed repository", async () => {
  let refusals = 2;
  const hub = await startFakeHub({
    repositories: { [REPO]: { files: { "a.gguf": large } } },
    intercept({ url }, response) {
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(refusals === 1 ? 429 : 503, { "retry-after": "0" }).end();
        return true;
      }
      if (!url?.startsWith("/api/models/old/name/")) return false;
      response.writeHead(307, { location: url.replace("old/name", REPO) }).end();
      return true;
    },
  });
  const listing = await listRepository("old/name", "main", hub.env, never);
  expect(listing.repo).toBe(REPO);
  expect(refusals).toBe(0);
});

it("ends at once when it is aborted, also while a busy hub is waited for", async () => {
  const abort = new AbortController();
  const hub = await startFakeHub({
    repositories: {},
    intercept(_, response) {
      response.writeHead(503, { "retry-after": "50" }).end(() => abort.abort(new Error("stop")));
      return true;
    },
  });
  await expect(listRepository(REPO, "main", hub.env, abort.signal)).rejects.toThrow("stop");
});
