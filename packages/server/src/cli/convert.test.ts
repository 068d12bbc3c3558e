import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelFolder } from "../models/convert/__fixtures__/model-folder.js";
import { tinyBert } from "../models/convert/__fixtures__/tiny-bert.js";
import { openLibrary } from "../models/index.js";
import { runCli } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";

test("a converted model is installed under its id", async () => {
  const place = await modelsPlace();
  const folder = await modelFolder(tinyBert());
  const { code, out, err } = await runCli(["convert", folder, "--id", "Tiny/BERT"], place);
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
  const path = join(place.modelsDir, "Tiny-BERT-f16.gguf");
  expect(out).toContain(`Tiny/BERT (F16, `);
  expect(out).toContain(`is installed as ${path}.`);
  const { size } = await stat(path);
  const [manifest, ...others] = await openLibrary(place.modelsDir).list();
  expect(others).toEqual([]);
  expect(manifest).toMatchObject({
    ...{ id: "Tiny/BERT", quant: "F16", modality: "embeddings", architecture: "bert" },
    origin: { type: "convert", from: folder },
    files: [{ role: "weights", path: "Tiny-BERT-f16.gguf", size, ours: true }],
  });
  const shown = JSON.parse((await runCli(["show", "Tiny/BERT", "--json"], place)).out);
  expect(shown).toMatchObject([
    { state: "installed", from: "convert", gguf: { architecture: "bert", pooling: "mean" } },
  ]);
});

test("with --out only the file is made", async () => {
  const place = await modelsPlace();
  const folder = await modelFolder(tinyBert());
  const argv = ["convert", folder, "--type", "f32", "--out", "made.gguf", "--json"];
  const { code, out } = await runCli(argv, place);
  expect(code).toBe(0);
  const done = JSON.parse(out.trimEnd().split("\n").at(-1)!);
  const path = join(place.cwd, "made.gguf");
  const { length } = await readFile(path);
  expect(done).toMatchObject({
    event: "done",
    id: null,
    type: "F32",
    file: { path, size: length },
  });
  expect(await openLibrary(place.modelsDir).list()).toEqual([]);
});

test("with --out and --id the file stays the user's own", async () => {
  const place = await modelsPlace();
  const folder = await modelFolder(tinyBert());
  const argv = ["convert", folder, "--out", "made.gguf", "--id", "made"];
  expect((await runCli(argv, place)).code).toBe(0);
  const [manifest] = await openLibrary(place.modelsDir).list();
  expect(manifest?.files).toMatchObject([{ path: join(place.cwd, "made.gguf"), ours: false }]);
});

test("an id that another model has is refused, one that was converted is made anew", async () => {
  const place = await modelsPlace();
  await addModel(place, "taken", join(place.modelsDir, "taken.gguf"));
  const folder = await modelFolder(tinyBert());
  const refused = await runCli(["convert", folder, "--id", "taken"], place);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("somnus rm taken");
  for (let time = 0; time < 2; time++) {
    expect((await runCli(["convert", folder, "--id", "again"], place)).code).toBe(0);
  }
});

test("a folder that is no model is answered with what can be converted", async () => {
  const place = await modelsPlace();
  const { code, err } = await runCli(["convert", "."], place);
  expect(code).toBe(1);
  expect(err).toContain("No converter knows the model in");
  expect(err).toContain("There is: ");
  const gone = await runCli(["convert", "nowhere"], place);
  expect(gone.err).toContain("nowhere is not there.");
  await writeFile(join(place.cwd, "file"), "");
  expect((await runCli(["convert", "file"], place)).err).toContain("is no folder.");
});

test("a type that cannot be made is answered with those that can", async () => {
  const place = await modelsPlace();
  const folder = await modelFolder(tinyBert());
  const { code, err } = await runCli(["convert", folder, "--type", "Q1"], place);
  expect(code).toBe(2);
  expect(err).toMatch(/It makes .*F16/);
});
