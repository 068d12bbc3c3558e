import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type LibraryManifest, openLibrary } from "./index.js";

const manifest: LibraryManifest = {
  manifest_version: 1,
  ...{ id: "m", quant: null, modality: "text_generation", additional_modalities: [] },
  ...{ engine: "ggml_llama", architecture: null, license: null, untested: true },
  origin: { type: "convert", converter: "c", from: "x" },
  files: [{ role: "weights", path: "m.gguf", size: 1, sha256: null, ours: true }],
  added_at: "2026-01-02T03:04:05Z",
};

it("keeps what it knew while its folder cannot be read, and says so", async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), "somnus-library-"));
  onTestFinished(() => rm(modelsDir, { recursive: true, force: true }));
  const library = openLibrary(modelsDir);
  await library.add(manifest);
  expect(await library.list()).toEqual([manifest]);
  await rename(library.folder, `${library.folder}-away`);
  await writeFile(library.folder, "no folder");
  expect(await library.list()).toEqual([manifest]);
  expect(await library.broken()).toEqual([
    { file: "", reason: expect.stringMatching(/^it cannot be read \(/) },
  ]);
  await expect(openLibrary(modelsDir).list()).rejects.toMatchObject({ code: "model_unavailable" });
  await rm(library.folder);
  expect(await library.list()).toEqual([]);
});
