import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  tinyLlama,
  writeSplitGguf,
  writeTinyBert,
  writeTinyLlama,
  writeTinyProjector,
} from "../../test/gguf/index.js";
import { CATALOG_ID, createPool, type PoolSettings } from "./__fixtures__/pool.js";
import { manifestOf } from "./library/__fixtures__/manifest.js";
import { type LibraryManifest, openLibrary } from "./library/index.js";

const ID = "owner/name:Q4_K_M";
const FILE = "hub/owner/name/m.gguf";

let made: Awaited<ReturnType<typeof createPool>>;
afterEach(async () => {
  vi.restoreAllMocks();
  await made.remove();
});

const manifest = (more: Partial<LibraryManifest> = {}) => manifestOf(ID, more);

async function openPool(settings: PoolSettings = {}) {
  made = await createPool(settings);
  const { pool, modelsDir } = made;
  const library = openLibrary(modelsDir);
  const file = join(modelsDir, FILE);
  await mkdir(dirname(file), { recursive: true });
  return { pool, modelsDir, library, file };
}

/** Lets the second pass that a look at a model's files is good for. */
function letTimePass() {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
}

describe("a model of the library", () => {
  it("is served under its id, with what the library knows of it", async () => {
    const { pool, library, file, modelsDir } = await openPool();
    await writeTinyLlama(file);
    await writeTinyProjector(join(modelsDir, "mmproj.gguf"));
    await library.add(
      manifest({
        additional_modalities: ["vision"],
        files: [
          ...manifest().files,
          { role: "aux", path: "mmproj.gguf", size: 1, sha256: null, ours: true },
        ],
      }),
    );
    await pool.open();
    expect(pool.list()).toMatchObject([
      {
        id: ID,
        modalities: ["text_generation", "vision"],
        weightsPath: file,
        projectorPath: join(modelsDir, "mmproj.gguf"),
        problem: null,
        contextTokens: 2_048,
        initialTier: "tier3_nvme_ssd",
      },
    ]);
  });

  it("joins while the server runs, is read again when it changes, and goes when it is removed", async () => {
    const { pool, library, file } = await openPool();
    await pool.open();
    expect(pool.list()).toEqual([]);
    await writeTinyLlama(file);
    await library.add(manifest());
    expect((await pool.resolve(ID)).modality).toBe("text_generation");
    await writeTinyBert(`${file}.new`);
    await rename(`${file}.new`, file);
    await library.add(manifest({ modality: "embeddings", architecture: "bert" }));
    await pool.refresh();
    expect(pool.list()).toMatchObject([{ modality: "embeddings", gguf: { architecture: "bert" } }]);
    await library.remove(ID);
    await pool.refresh();
    expect(pool.list()).toEqual([]);
    await expect(pool.resolve(ID)).rejects.toMatchObject({ code: "model_not_found" });
  });

  it.each<[LibraryManifest["origin"], RegExp]>([
    [
      { type: "huggingface", repo: "owner/name", revision: "a".repeat(40) },
      /"m\.gguf" cannot be used: it does not exist\. It was removed .* somnus pull owner\/name:Q4_K_M$/,
    ],
    [{ type: "import", tool: "Ollama", location: "/x" }, /Ollama keeps its models.*somnus import$/],
    [{ type: "convert", converter: "c", from: "x" }, /somnus convert$/],
  ])("whose file was removed says so, and how to get it again: %j", async (origin, problem) => {
    const { pool, library, file, modelsDir } = await openPool();
    await writeTinyLlama(file);
    await library.add(manifest({ origin }));
    await pool.open();
    expect((await pool.resolve(ID)).problem).toBeNull();
    await rm(file);
    letTimePass();
    const found = (await pool.resolve(ID)).problem;
    expect(found).toMatch(problem);
    expect(found).not.toContain(modelsDir);
    await writeTinyLlama(file);
    expect((await pool.resolve(ID)).problem).toBeNull();
  });

  it("in parts has the size of all of them, and a problem when one goes", async () => {
    const { pool, library, file } = await openPool();
    await writeTinyLlama(file);
    const paths = await writeSplitGguf(dirname(file), "s", tinyLlama(), 3);
    const part = (path: string) => `hub/owner/name/${path.slice(dirname(file).length + 1)}`;
    const fileOf = (path: string) =>
      ({ role: "weights", path: part(path), size: 1, sha256: null, ours: true }) as const;
    await library.add(manifest({ files: paths.map(fileOf) }));
    await library.add(manifest({ id: "owner/name:F16" }));
    await pool.open();
    const [one, inParts] = pool.list();
    expect(inParts).toMatchObject({ id: ID, weightsPath: paths[0], problem: null });
    expect(inParts!.gguf!.tensorBytes).toBe(one!.gguf!.tensorBytes);
    await rm(paths[2]!);
    await pool.refresh();
    expect(pool.list()[1]!.problem).toContain('"s-00003-of-00003.gguf" cannot be used');
  });

  it("with a broken projector cannot be served", async () => {
    const { pool, library, file, modelsDir } = await openPool();
    await writeTinyLlama(file);
    await writeFile(join(modelsDir, "mmproj.gguf"), "nothing");
    const files = manifest().files;
    files.push({ role: "aux", path: "mmproj.gguf", size: 1, sha256: null, ours: true });
    await library.add(manifest({ files }));
    await pool.open();
    expect(pool.list()[0]!.problem).toContain('"mmproj.gguf" cannot be used');
  });

  it("is not kept from service by a broken neighbour", async () => {
    const { pool, library, file } = await openPool();
    await writeTinyLlama(file);
    await library.add(manifest());
    await writeFile(join(library.folder, "broken.json"), "{");
    await pool.open();
    expect(pool.list().map(({ id }) => id)).toEqual([ID]);
  });
});

describe("a configured block", () => {
  it.each([ID, "owner/name"])("of the id %s takes the library's files and use", async (id) => {
    const { pool, library, file } = await openPool({ models: [{ id, context_len: 512 }] });
    await writeTinyBert(file);
    await library.add(manifest({ modality: "embeddings" }));
    await library.add(manifest({ id: "owner/other:Q4_K_M" }));
    await pool.open();
    expect(pool.list()).toMatchObject([
      { id, modality: "embeddings", weightsPath: file, contextTokens: 512, problem: null },
    ]);
  });

  it("takes them also when the model is pulled while the server runs", async () => {
    const { pool, library, file } = await openPool({ models: [{ id: ID }] });
    await pool.open();
    expect(pool.list()[0]!.problem).toContain(`get it with: somnus pull ${ID}`);
    await writeTinyLlama(file);
    await library.add(manifest());
    expect((await pool.resolve(ID)).problem).toBeNull();
  });

  it("keeps what it says itself", async () => {
    const { pool, library, file, modelsDir } = await openPool({
      models: [{ id: ID, weights_path: "mine.gguf" }],
    });
    await writeTinyBert(file);
    await library.add(manifest({ modality: "embeddings" }));
    await pool.open();
    const [missing] = pool.list();
    expect(missing).toMatchObject({
      modality: "text_generation",
      weightsPath: join(modelsDir, "mine.gguf"),
    });
    expect(missing!.problem).toMatch(
      /"mine\.gguf".* does not exist\. Put the file there, or correct weights_path/,
    );
  });

  it("of the catalog says how to get its file", async () => {
    const { pool } = await openPool({ models: [{ id: CATALOG_ID }] });
    await pool.open();
    expect(pool.list()[0]!.problem).toMatch(
      /"small\.gguf" cannot be used: it does not exist\. Get it with: somnus pull small:1b$/,
    );
  });
});

describe("a name of the hub that is not here", () => {
  it.each<[string, PoolSettings, string]>([
    ["owner/else:Q8_0", {}, "It is not installed; get it with: somnus pull owner/else:Q8_0"],
    ["owner/name", {}, `Did you mean ${ID}?`],
    ["owner/else:$(id)", {}, `Here are: ${ID}`],
    ["owner/name:Q8_0", {}, `Did you mean ${ID}?`],
    ["owner/else", { models: [{ id: "mine" }] }, '[[models]] block with id = "owner/else"'],
  ])("%s is refused with the way to it", async (name, settings, hint) => {
    const { pool, library, file } = await openPool(settings);
    await writeTinyLlama(file);
    await library.add(manifest());
    await pool.open();
    await expect(pool.resolve(name)).rejects.toThrow(hint);
  });
});
