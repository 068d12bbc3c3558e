import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli, temporaryFolder } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";
import type { ListedModel } from "./list.js";

test("without anything installed the way to the catalog is told", async () => {
  const { code, out } = await runCli(["list"]);
  expect({ code, out }).toEqual({
    code: 0,
    out: "No model is installed. What can be had: somnus catalog\n",
  });
  expect((await runCli(["list", "--json"])).out).toBe("[]\n");
});

test("with --all the catalog is listed too", async () => {
  const catalog = await readCatalog();
  const { code, out } = await runCli(["list", "--all", "--json"]);
  expect(code).toBe(0);
  const models = JSON.parse(out) as ListedModel[];
  const variants = catalog.models.flatMap((model) =>
    model.variants.map((one) => [model.id, one.quant]),
  );
  expect(models.map(({ id, quant }) => [id, quant])).toEqual(variants);
  for (const model of models) {
    expect(model).toMatchObject({ state: "available", from: "catalog", configured: false });
    expect(model.license).toEqual(expect.any(String));
  }
});

test("configured models are listed with what became of their file", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "mine.gguf"), "12345");
  const toml = `[pool]\nmodels_dir = "."
[[models]]\nid = "mine"\nweights_path = "mine.gguf"
[[models]]\nid = "gone"\nweights_path = "gone.gguf"\n`;
  await writeFile(join(folder, "somnus.toml"), toml);
  const { out } = await runCli(["list", "--json"], { cwd: folder });
  expect(JSON.parse(out)).toMatchObject([
    { id: "gone", state: "missing", size: null, configured: true, in_pool: false },
    { id: "mine", state: "installed", size: 5, configured: true, in_pool: true },
  ]);
});

test("models of the library are listed with where they came from", async () => {
  const place = await modelsPlace();
  await addModel(place, "pulled", join(place.modelsDir, "pulled.gguf"));
  await addModel(place, "made", join(place.modelsDir, "made.gguf"), {
    origin: { type: "convert", converter: "c", from: "/models/source" },
  });
  await addModel(place, "found", join(place.cwd, "found.gguf"), {
    origin: { type: "import", tool: "ollama", location: "/elsewhere/manifest" },
  });
  const { out } = await runCli(["list"], place);
  const rows = out.trimEnd().split("\n").slice(1);
  expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual([
    "ollama /elsewhere",
    "converted from /models/source",
    "huggingface maker/tiny at 0123456",
  ]);
});

test("a block that names a repository means its only installed model", async () => {
  const place = await modelsPlace('[[models]]\nid = "maker/tiny"\n');
  await addModel(place, "maker/tiny:F32", join(place.modelsDir, "tiny.gguf"));
  const { out } = await runCli(["list", "--json"], place);
  expect(JSON.parse(out)).toMatchObject([
    { id: "maker/tiny:F32", state: "installed", configured: true, in_pool: true },
  ]);
});

test("a manifest that cannot be read is named", async () => {
  const place = await modelsPlace();
  await addModel(place, "pulled", join(place.modelsDir, "pulled.gguf"));
  await writeFile(join(place.modelsDir, "library", "broken.json"), "{");
  const { code, out, err } = await runCli(["list"], place);
  expect(code).toBe(0);
  expect(out).toContain("pulled");
  expect(err).toContain("broken.json");
});

test("the table fits a narrow terminal and has no colour where none is wanted", async () => {
  const options = { terminal: 60, env: { NO_COLOR: "1" } };
  const { raw } = await runCli(["list", "--all"], options);
  expect(raw).not.toContain("\u001b");
  for (const line of raw.split("\n").filter((line) => !line.includes("somnus"))) {
    expect(line.length).toBeLessThanOrEqual(60);
  }
  const coloured = await runCli(["list", "--all"], { terminal: 60 });
  expect(coloured.raw).toContain("\u001b[");
});
