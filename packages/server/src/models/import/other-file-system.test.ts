import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openLibrary } from "../library/index.js";
import { emptyHome, gguf, ggufPart, put, search } from "./__fixtures__/tools.js";
import { importModel } from "./index.js";

vi.mock("node:fs/promises", async (original) => {
  const fs = await original<typeof import("node:fs/promises")>();
  return {
    ...fs,
    // What the system says when the two names would be on different file systems.
    link: vi.fn(async () => {
      throw Object.assign(new Error("EXDEV: cross-device link not permitted"), { code: "EXDEV" });
    }),
  };
});

async function take(names: Record<string, Uint8Array>, blobs = false) {
  const home = await emptyHome();
  const folder = join(home, ".lmstudio", "models", "a", "m");
  for (const [name, bytes] of Object.entries(names)) await put(join(folder, name), bytes);
  const [found] = (await search(home)).models;
  const modelsDir = await mkdtemp(join(tmpdir(), "somnus-import-"));
  const imported = importModel(
    { ...found!, needsOwnNames: blobs },
    {
      library: openLibrary(modelsDir),
      modelsDir,
      id: found!.id,
      manner: "link",
      verify: false,
      testedArchitectures: new Set(),
      on: () => {},
      signal: new AbortController().signal,
    },
  );
  return { imported, modelsDir, remove: () => rm(modelsDir, { recursive: true }) };
}

test("a link to another file system becomes use in place, and it is said", async () => {
  const { imported, modelsDir, remove } = await take({ "m-Q4_0.gguf": gguf("llama") });
  const { manner, note, manifest } = await imported;
  expect([manner, note]).toEqual(["in place", expect.stringContaining("another file system")]);
  expect(manifest.files).toMatchObject([{ ours: false }]);
  expect((await stat(manifest.files[0]!.path)).size).toBe(gguf("llama").length);
  expect(await readdir(modelsDir)).toEqual(["library"]);
  await remove();
});

test("where that cannot serve, copying is advised and nothing is left", async () => {
  const { imported, modelsDir, remove } = await take(
    { "m-Q4_0-00001-of-00002.gguf": ggufPart(1, 2), "m-Q4_0-00002-of-00002.gguf": ggufPart(2, 2) },
    true,
  );
  await expect(imported).rejects.toThrow(/another file system.*--copy/);
  expect(await readdir(modelsDir)).toEqual([]);
  await remove();
});
