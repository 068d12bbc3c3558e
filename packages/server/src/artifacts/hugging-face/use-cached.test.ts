import { lstat, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { cacheFile, sha256Of } from "../../../test/fake-hub/index.js";
import type { Progress } from "../../observe/index.js";
import { payload } from "../__fixtures__/payload.js";
import { tempDir } from "../__fixtures__/temp-dir.js";
import { createArtifacts } from "../index.js";

/** Which links the file system can make; a second file system is not at hand everywhere. */
const can = vi.hoisted(() => ({ link: true, symlink: true }));
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const refuse = () =>
    Promise.reject(Object.assign(new Error("cross-device link"), { code: "EXDEV" }));
  return {
    ...real,
    link: (...of: Parameters<typeof real.link>) => (can.link ? real.link(...of) : refuse()),
    symlink: (...of: Parameters<typeof real.symlink>) =>
      can.symlink ? real.symlink(...of) : refuse(),
  };
});
beforeEach(() => Object.assign(can, { link: true, symlink: true }));

const content = payload(200_000);
const spec = {
  file: "model.bin",
  size: content.length,
  sha256: sha256Of(content),
  sources: [{ type: "huggingface" as const, repo: "owner/model", path: "model.gguf" }],
};

async function fetchCached(links: Partial<typeof can>) {
  const dir = await tempDir();
  const cacheDir = join(dir, "cache");
  const file = { repo: "owner/model", commit: "a".repeat(40), path: "model.gguf", content };
  const blob = await cacheFile(cacheDir, file);
  Object.assign(can, links);
  const steps: Progress[] = [];
  const artifacts = createArtifacts({
    env: { HOME: dir, HF_HUB_CACHE: cacheDir, HF_HUB_OFFLINE: "1" },
  });
  const models = join(dir, "models");
  const on = (progress: Progress) => steps.push(progress);
  await artifacts.fetch(spec, models, on, new AbortController().signal);
  return { artifacts, blob, models, path: join(models, "model.bin"), steps };
}

it("a cached file on another disk is used where it lies, until the cache is emptied", async () => {
  const { artifacts, blob, models, path } = await fetchCached({ link: false });
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await artifacts.installed(spec, models)).toMatchObject({ cached: true });
  await rm(blob);
  expect(await artifacts.installed(spec, models)).toBeNull();
});

it("one that goes by no link at all is copied, and the transfer says so", async () => {
  const { path, steps } = await fetchCached({ link: false, symlink: false });
  expect((await lstat(path)).isFile()).toBe(true);
  expect((await readFile(path)).equals(content)).toBe(true);
  expect(steps.map(({ step }) => step)).toContain(
    "copying model.bin from the Hugging Face cache, as it cannot be linked there",
  );
});

it("removing the model leaves the cache as it was", async () => {
  for (const link of [true, false]) {
    const { artifacts, blob, path } = await fetchCached({ link });
    await artifacts.forget(path);
    await expect(lstat(path)).rejects.toThrow("ENOENT");
    expect((await readFile(blob)).equals(content)).toBe(true);
  }
});
