import { readFile } from "node:fs/promises";
import { parse } from "smol-toml";
import { Compile } from "typebox/schema";
import { describe, expect, test } from "vitest";
import { loadToml } from "./__fixtures__/config-folder.js";
import { configJsonSchema } from "./json-schema.js";
import { keyText } from "./key-path.js";
import { SETTINGS } from "./settings.js";
import { TomlPositions } from "./toml-positions.js";

const example = await readFile(
  new URL("../../../../config/somnus.example.toml", import.meta.url),
  "utf8",
);
/** With everything that is commented out in force: prose has a space after its #, keys have none. */
const complete = example.replaceAll(/^#(?=["[a-z])/gm, "");
const validator = Compile(configJsonSchema());

describe.each([
  ["as it is", example],
  ["with all of it in force", complete],
])("%s", (_, toml) => {
  test("it loads without a warning", async () => {
    const { warnings, file } = await loadToml(toml);
    expect(file).not.toBeNull();
    expect(warnings).toEqual([]);
  });

  test("it fits the JSON Schema", () => {
    expect(validator.Errors(parse(toml))).toEqual([true, []]);
  });
});

test("it shows every setting that has an effect", () => {
  const shown = new Set(
    [...new TomlPositions(complete).keys()].map((key) => key.replaceAll(/\[\d+\]/g, "[]")),
  );
  const expected = SETTINGS.filter(({ schema }) => schema.effect === undefined).map(
    ({ key }) => key,
  );
  expect(expected.filter((key) => !shown.has(key))).toEqual([]);
});

test("what it comments out is the default, where there is one", () => {
  const values = parse(complete);
  for (const { path, schema } of SETTINGS.filter(({ variable }) => variable !== null)) {
    const isPlain = schema.default !== undefined && !Array.isArray(schema.default);
    if (!isPlain || schema.effect !== undefined) continue;
    const value = path.reduce<unknown>(
      (table, key) => (table as Record<string, unknown>)[key],
      values,
    );
    expect([keyText(path), value]).toEqual([keyText(path), schema.default]);
  }
});
