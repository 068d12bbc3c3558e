import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli, temporaryFolder } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";
import type { ShownModel } from "./show.js";

test("everything known of an installed model is shown", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  const size = await addModel(place, "tiny:1b", file);
  const { code, out } = await runCli(["show", "tiny:1b", "--json"], place);
  expect(code).toBe(0);
  const [model, ...rest] = JSON.parse(out) as ShownModel[];
  expect(rest).toEqual([]);
  expect(model).toMatchObject({
    ...{ id: "tiny:1b", state: "installed", from: "huggingface", in_pool: true, tested: false },
    ...{ origin: "huggingface maker/tiny at 0123456", license: "mit", size },
    gguf: { architecture: "llama", layers: 2, experts: null, parts: 1 },
    files: [{ role: "weights", path: file, size, ours: true, here: true }],
    problem: null,
  });
  expect(model?.files[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  const text = (await runCli(["show", "tiny:1b"], place)).out;
  for (const part of ["installed, in the pool", "maker/tiny", "llama", file, "mit"]) {
    expect(text).toContain(part);
  }
});

test("a model of the catalog that is not here is shown with how to get it", async () => {
  const place = await modelsPlace();
  const [first] = (await readCatalog()).models;
  const { code, out } = await runCli(["show", first!.id], place);
  expect(code).toBe(0);
  expect(out).toContain(`not installed; get it with: somnus pull ${first!.id}:`);
  expect(out).toContain(first!.license);
  expect(out).toContain(first!.summary);
});

test("a file that is gone, or another one, is told", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  await writeFile(file, "no model at all");
  const changed = (await runCli(["show", "tiny:1b"], place)).out;
  expect(changed).toContain("missing: a file of it is gone, or another one now");
  expect(changed).toContain("it is not a GGUF file");
  await rm(file);
  const { out } = await runCli(["show", "tiny:1b", "--json"], place);
  expect(JSON.parse(out)).toMatchObject([{ state: "missing", files: [{ here: false }] }]);
});

test("a file that is used in place gets nothing beside it, and is read once", async () => {
  const place = await modelsPlace();
  const elsewhere = await temporaryFolder();
  const file = join(elsewhere, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const show = async () => {
    const { out } = await runCli(["show", "tiny:1b", "--json"], place);
    return (JSON.parse(out) as ShownModel[])[0]?.files[0];
  };
  const shown = await show();
  expect(shown).toMatchObject({ path: file, ours: false, here: true });
  expect(shown?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(await readdir(elsewhere)).toEqual(["tiny.gguf"]);
  const receipts = join(place.modelsDir, ".receipts");
  const [receipt, ...rest] = await readdir(receipts);
  expect(rest).toEqual([]);
  const { ino } = await stat(join(receipts, receipt!));
  expect(await show()).toEqual(shown);
  expect((await stat(join(receipts, receipt!))).ino).toBe(ino);
});

test("where the configuration lists other models it is not in the pool", async () => {
  const place = await modelsPlace('[[models]]\nid = "other"\nweights_path = "other.gguf"\n');
  await addModel(place, "tiny:1b", join(place.modelsDir, "tiny.gguf"));
  const { out } = await runCli(["show", "tiny:1b", "--json"], place);
  expect(JSON.parse(out)).toMatchObject([{ state: "installed", in_pool: false }]);
});

test("an unknown name is answered with the nearest one", async () => {
  const place = await modelsPlace();
  await addModel(place, "tiny:1b", join(place.modelsDir, "tiny.gguf"));
  const { code, err } = await runCli(["show", "tinny:1b"], place);
  expect(code).toBe(1);
  expect(err).toContain("Did you mean tiny:1b?");
});
