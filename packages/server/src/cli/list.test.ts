import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli, temporaryFolder } from "./__fixtures__/cli.js";
import type { ListedModel } from "./list.js";

test("without anything installed the catalog is listed", async () => {
  const catalog = await readCatalog();
  const { code, out } = await runCli(["list", "--json"]);
  expect(code).toBe(0);
  const models = JSON.parse(out) as ListedModel[];
  const variants = catalog.models.flatMap((model) =>
    model.variants.map((one) => [model.id, one.quant]),
  );
  expect(models.map(({ id, quant }) => [id, quant])).toEqual(variants);
  for (const model of models) {
    expect(model).toMatchObject({ state: "available", configured: false });
    expect(model.size).toBeGreaterThan(1e6);
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
  const models = JSON.parse(out) as ListedModel[];
  expect(models.slice(0, 2)).toMatchObject([
    { id: "gone", state: "missing", size: null, configured: true },
    { id: "mine", state: "installed", size: 5, configured: true },
  ]);
});

test("the table fits a narrow terminal and has no colour where none is wanted", async () => {
  const { raw } = await runCli(["list"], { terminal: 60, env: { NO_COLOR: "1" } });
  expect(raw).not.toContain("\u001b");
  for (const line of raw.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  const coloured = await runCli(["list"], { terminal: 60 });
  expect(coloured.raw).toContain("\u001b[");
});
