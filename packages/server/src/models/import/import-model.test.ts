import { chmod, mkdir, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readGguf } from "../../gguf/index.js";
import { libraryFilePath, openLibrary } from "../library/index.js";
import { emptyHome, gguf, ggufPart, put, putOllama, search, sha256 } from "./__fixtures__/tools.js";
import { type FoundModel, type ImportOptions, importModel } from "./index.js";

async function machine() {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  await putOllama(store, "registry.ollama.ai/library/m/1b", [
    { kind: "model", content: gguf("llama") },
    { kind: "projector", content: gguf("projector") },
  ]);
  const [model] = (await search(home)).models;
  return { home, store, model: model!, modelsDir: join(home, "ours") };
}

function take(model: FoundModel, modelsDir: string, options: Partial<ImportOptions> = {}) {
  return importModel(model, {
    library: openLibrary(modelsDir),
    modelsDir,
    id: model.id,
    manner: "in place",
    verify: false,
    testedArchitectures: new Set(["llama"]),
    on: () => {},
    signal: new AbortController().signal,
    ...options,
  });
}

test("in place: the library names the files where they are, and nothing is written beside it", async () => {
  const { model, modelsDir } = await machine();
  const { manner, note } = await take(model, modelsDir);
  expect([manner, note]).toEqual(["in place", null]);
  expect(await readdir(modelsDir)).toEqual(["library"]);
  expect(await openLibrary(modelsDir).find("m:1b")).toMatchObject({
    ...{ id: "m:1b", quant: "F16", modality: "text_generation", engine: "ggml_llama" },
    ...{ additional_modalities: ["vision"], architecture: "llama", untested: false },
    origin: { type: "import", tool: "ollama", location: model.location },
    files: [
      { role: "weights", path: model.files[0]!.path, sha256: null, ours: false },
      { role: "aux", path: model.files[1]!.path, sha256: null, ours: false },
    ],
  });
});

test("linked: the files get another name in the models folder and take no further bytes", async () => {
  const { model, modelsDir } = await machine();
  const { manifest, manner } = await take(model, modelsDir, { manner: "link" });
  expect(manner).toBe("link");
  expect(manifest.files).toMatchObject([
    { path: "m_1b.gguf", ours: true },
    { path: "m_1b.mmproj.gguf", ours: true },
  ]);
  for (const [index, file] of manifest.files.entries()) {
    const ours = await stat(libraryFilePath(modelsDir, file));
    expect(ours.ino).toBe((await stat(model.files[index]!.path)).ino);
  }
});

test("copied: the bytes are the same and their SHA-256 is known", async () => {
  const { home, model, modelsDir } = await machine();
  const steps: number[] = [];
  const { manifest } = await take(model, modelsDir, {
    manner: "copy",
    on: ({ done, total }) => steps.push(done / total!),
  });
  expect(manifest.files.map((file) => file.sha256)).toEqual([
    sha256(gguf("llama")),
    sha256(gguf("projector")),
  ]);
  expect(steps.at(-1)).toBe(1);
  await rm(join(home, ".ollama"), { recursive: true });
  expect((await readGguf(join(modelsDir, "m_1b.gguf"))).architecture).toBe("llama");
});

test("parts under blob names get those that the engine follows, but only in the models folder", async () => {
  const { home, store, modelsDir } = await machine();
  const parts = [1, 2].map((number) => ({ kind: "model", content: ggufPart(number, 2) }));
  await putOllama(store, "registry.ollama.ai/library/large/70b", parts);
  const model = (await search(home)).models.find(({ name }) => name === "large:70b")!;
  await expect(take(model, modelsDir)).rejects.toThrow(/--link/);
  const { manifest } = await take(model, modelsDir, { manner: "link" });
  expect(manifest.files.map(({ path }) => path)).toEqual([
    "large_70b-00001-of-00002.gguf",
    "large_70b-00002-of-00002.gguf",
  ]);
});

test("another file of the same name stays, and the same link is no trouble", async () => {
  const { model, modelsDir } = await machine();
  await put(join(modelsDir, "m_1b.gguf"), "mine");
  const first = await take(model, modelsDir, { manner: "link" });
  const second = await take(model, modelsDir, { manner: "link" });
  expect(first.manifest.files[0]!.path).toBe("m_1b-2.gguf");
  expect(second.manifest.files).toEqual(first.manifest.files);
});

test("a file that broke or went since it was found is refused, and nothing is left", async () => {
  const { model, modelsDir } = await machine();
  await truncate(model.files[0]!.path, 1_000);
  for (const manner of ["in place", "link", "copy"] as const) {
    await expect(take(model, modelsDir, { manner })).rejects.toMatchObject({
      code: "model_unavailable",
    });
  }
  await rm(model.files[0]!.path);
  await expect(take(model, modelsDir)).rejects.toMatchObject({ code: "model_unavailable" });
  expect(await openLibrary(modelsDir).list()).toEqual([]);
});

test("verifying compares every byte with what the tool noted", async () => {
  const { model, modelsDir } = await machine();
  const good = await take(model, modelsDir, { verify: true });
  expect(good.manifest.files[0]!.sha256).toBe(sha256(gguf("llama")));
  const bytes = Buffer.from(gguf("llama"));
  bytes[bytes.length - 1]! ^= 1;
  await writeFile(model.files[0]!.path, bytes);
  for (const manner of ["in place", "link", "copy"] as const) {
    const options = { manner, verify: true, id: "other" };
    await expect(take(model, modelsDir, options)).rejects.toThrow(/is damaged: the SHA-256/);
  }
  expect((await readdir(modelsDir)).sort()).toEqual(["library"]);
});

test("cancelled, it leaves nothing and says the signal's reason", async () => {
  const { model, modelsDir } = await machine();
  for (const manner of ["in place", "link", "copy"] as const) {
    const abort = new AbortController();
    const reason = new Error("enough");
    const options = { manner, verify: true, on: () => abort.abort(reason), signal: abort.signal };
    await expect(take(model, modelsDir, options)).rejects.toBe(reason);
  }
  const left = (await readdir(modelsDir)).filter((name) => name !== "library");
  expect(left).toEqual([]);
  expect(await openLibrary(modelsDir).list()).toEqual([]);
});

test("what a killed process left is removed by the next one", async () => {
  const { model, modelsDir } = await machine();
  await put(join(modelsDir, ".import-0123456789ab.part"), "half");
  await take(model, modelsDir, { manner: "link" });
  expect(await readdir(modelsDir)).not.toContain(".import-0123456789ab.part");
});

test("a models folder that cannot be made is an error that names it", async () => {
  const { home, model } = await machine();
  const modelsDir = join(await put(join(home, "file"), "x"), "models");
  const error = await take(model, modelsDir, { manner: "link" }).catch((one: unknown) => one);
  expect(error).toMatchObject({ code: "model_unavailable" });
  expect((error as Error).message).toContain(modelsDir);
});

test("a model of an architecture that was never run is noted as untested", async () => {
  const { model, modelsDir } = await machine();
  const testedArchitectures = new Set<string>();
  expect((await take(model, modelsDir, { testedArchitectures })).manifest.untested).toBe(true);
  const cautioned = { ...model, caution: "A layout of its own." };
  expect((await take(cautioned, modelsDir)).manifest.untested).toBe(true);
});

test("an imported model is known again, in place, linked and copied", async () => {
  for (const manner of ["in place", "link", "copy"] as const) {
    const { home, model, modelsDir } = await machine();
    const { manifest } = await take(model, modelsDir, { manner, id: "own-name" });
    const weights = manifest.files
      .filter(({ role }) => role === "weights")
      .map((file) => libraryFilePath(modelsDir, file));
    const location = manifest.origin.type === "import" ? manifest.origin.location : null;
    const here = [{ id: manifest.id, weights, location }];
    const [again] = (await search(home, { here })).models;
    expect([manner, again!.importedAs, again!.id]).toEqual([manner, "own-name", "own-name"]);
  }
});

test("a folder without write permission is no reason to crash", async () => {
  const { home, model } = await machine();
  const modelsDir = join(home, "read-only");
  await mkdir(modelsDir);
  await chmod(modelsDir, 0o500);
  const outcome = await take(model, modelsDir, { manner: "link" }).catch((one: unknown) => one);
  await chmod(modelsDir, 0o700);
  // The administrator may write anywhere.
  if (process.getuid?.() === 0) expect(outcome).toMatchObject({ manner: "link" });
  else expect(outcome).toMatchObject({ code: "model_unavailable" });
});
