import { readFile } from "node:fs/promises";
import { Compile } from "typebox/schema";
import { expect, it } from "vitest";
import { modelIdProblem } from "../../config/index.js";
import { converters } from "../convert/index.js";
import { isConverted, testedArchitectures } from "./facts.js";
import { findInCatalog } from "./find.js";
import { readCatalog } from "./read-catalog.js";
import { catalogJsonSchema } from "./schema.js";

const catalog = await readCatalog();
const files = catalog.models.flatMap((model) =>
  model.variants.flatMap((variant) =>
    variant.files.map((file) => ({ what: `${model.id}:${variant.quant} ${file.file}`, file })),
  ),
);

it("names every model by an id that a configuration can use, and finds each by it", () => {
  for (const model of catalog.models) {
    expect(modelIdProblem(model.id), model.id).toBeNull();
    for (const variant of model.variants) {
      expect(findInCatalog(catalog, `${model.id}:${variant.quant}`)).toEqual({ model, variant });
    }
    expect(findInCatalog(catalog, model.id)?.variant.default, model.id).toBe(true);
  }
});

it("has one starter, and it was run here", () => {
  const starters = catalog.models.filter((model) => model.starter);
  expect(starters.map((model) => model.verified)).toEqual([true]);
});

it("tells what was run here from what was not", () => {
  expect(testedArchitectures(catalog)).toEqual(["bert", "gemma3", "llama", "qwen2"]);
  expect(catalog.models.some((model) => !model.verified)).toBe(true);
});

it("can check every file: by its own size and hash, or by those of the hub", () => {
  for (const { what, file } of files) {
    if (file.size !== undefined && file.sha256 !== undefined) continue;
    const sources = isConverted(file) ? [] : file.sources;
    expect(
      sources.map(({ type }) => type),
      what,
    ).toContain("huggingface");
  }
});

it("goes to the hub first, at a commit where one is known", () => {
  for (const { what, file } of files) {
    if (isConverted(file)) continue;
    const types = file.sources.map(({ type }) => type);
    if (types.includes("huggingface")) expect(types[0], what).toBe("huggingface");
    for (const source of file.sources) {
      if (source.type !== "huggingface" || source.revision === undefined) continue;
      expect(source.revision, what).toMatch(/^[0-9a-f]{40}$/);
    }
  }
});

it("converts with converters that exist, into types they make, out of files they read", () => {
  const converted = files.map(({ file }) => file).filter(isConverted);
  expect(converted).not.toEqual([]);
  for (const { convert } of converted) {
    const converter = converters.find((one) => one.id === convert.converter);
    expect(converter?.types).toContain(convert.type);
    for (const { file } of convert.inputs) expect(converter?.files).toContain(file);
  }
});

it("speaks to people in whole sentences", () => {
  for (const { id, summary } of catalog.models) expect(summary, id).toMatch(/^[A-Z].*\.$/);
});

it("comes with the JSON Schema of this code, which takes it and refuses what is none", async () => {
  const url = new URL("../../../../../config/models.catalog.schema.json", import.meta.url);
  const schema = JSON.parse(await readFile(url, "utf8")) as Record<string, unknown>;
  expect(schema).toEqual(catalogJsonSchema());
  const validator = Compile(schema);
  expect(validator.Check(catalog)).toBe(true);
  expect(validator.Check({ ...catalog, models: [{ ...catalog.models[0], license: 3 }] })).toBe(
    false,
  );
  expect(validator.Check({ catalog_version: 2, models: [] })).toBe(false);
});
