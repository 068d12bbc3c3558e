import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { payload } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts, type Source } from "./index.js";

const first = payload(60_000);
const second = payload(60_000, 2);
const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const never = new AbortController().signal;
const RECEIPT = ".model.bin.receipt.json";

/** A file that was fetched once and whose server has other bytes since; each fetch is one of a new process. */
async function replacedOnServer() {
  const dir = await tempDir();
  let served = first;
  const server = await serveRanges(first, () => ({
    content: served,
    etag: `"${sha256Of(served)}"`,
  }));
  const source: Source = { type: "https", url: `${server.origin}/m` };
  const fetch = (sources: Source[] = [source]) =>
    createArtifacts({ limits: { backoffMs: 1 } }).fetch(
      { file: "model.bin", size: null, sha256: null, sources },
      dir,
      () => {},
      never,
    );
  await fetch();
  served = second;
  return { dir, path: join(dir, "model.bin"), server, fetch, restore: () => (served = first) };
}

it("holds a later download to the first one, also after the file was deleted", async () => {
  const { dir, path, fetch, restore } = await replacedOnServer();
  await rm(path);
  const refusal = await fetch().catch((error: Error) => error);
  expect(refusal).toMatchObject({ code: "model_unavailable" });
  const { message } = refusal as Error;
  expect(message).toContain(`SHA-256 ${sha256Of(second)} instead of ${sha256Of(first)}`);
  expect(message).toContain("somnus rm");
  expect(message).toContain(join(dir, RECEIPT));
  expect(await readdir(dir)).toEqual([RECEIPT]);
  restore();
  expect(await fetch()).toMatchObject({ sha256: sha256Of(first), pinnedBy: "first download" });
});

it("keeps the pin of a damaged file, and brings the pinned content again only", async () => {
  const { path, fetch, restore } = await replacedOnServer();
  await writeFile(path, payload(60_000, 9));
  await expect(fetch()).rejects.toThrow(sha256Of(first));
  await expect(fetch()).rejects.toThrow(sha256Of(first));
  restore();
  await fetch();
  expect((await readFile(path)).equals(first)).toBe(true);
});

it.each(["removing the model", "deleting the receipt"])(
  "takes the new content after %s",
  async (how) => {
    const { dir, path, fetch } = await replacedOnServer();
    if (how === "removing the model") await createArtifacts().forget(path);
    else for (const name of ["model.bin", RECEIPT]) await rm(join(dir, name));
    expect(await fetch()).toMatchObject({ sha256: sha256Of(second) });
  },
);

it("holds every source of the same spec to it, and none of another spec", async () => {
  const { path, server, fetch } = await replacedOnServer();
  await rm(path);
  const old: Source = { type: "https", url: `${server.origin}/m` };
  const mirror: Source = { type: "https", url: `${server.origin}/mirror` };
  await expect(fetch([mirror, old])).rejects.toThrow(sha256Of(first));
  expect(await fetch([mirror])).toMatchObject({ sha256: sha256Of(second) });
});
