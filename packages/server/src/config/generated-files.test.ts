import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { Compile } from "typebox/schema";
import { expect, test } from "vitest";
import { configJsonSchema } from "./json-schema.js";
import { readValue } from "./read-value.js";
import { configReference } from "./reference.js";
import { KNOWN_KEYS, ROOT, SETTINGS } from "./settings.js";

const inRepository = (path: string) =>
  readFile(new URL(`../../../../${path}`, import.meta.url), "utf8");

test("the JSON Schema in the repository is the one of this code", async () => {
  expect(JSON.parse(await inRepository("config/somnus.schema.json"))).toEqual(configJsonSchema());
});

test("the reference page in the repository is the one of this code", async () => {
  expect(await inRepository("docs/reference/configuration.md")).toBe(configReference());
});

test("every setting is described, and is in the reference page", () => {
  const page = configReference();
  for (const { key, path, schema } of SETTINGS) {
    expect(schema.description, key).toMatch(/^[A-Z`].*[^ ]$/);
    const isTable = schema.type === "object" || schema.items?.type === "object";
    expect(page).toContain(isTable ? `[${path.join(".")}]` : `| \`${path.at(-1)}\` |`);
  }
});

test("the JSON Schema accepts and refuses what the loader does", () => {
  const validator = Compile(configJsonSchema());
  const value = fc.oneof(
    fc.constantFrom(
      "",
      "a",
      "auto",
      "localhost",
      "::1",
      "queue",
      "https://a.org:*",
      "a b",
      "\u0000",
    ),
    fc.constantFrom(-1, 0, 0.5, 1, 2, 4096, 65535, 65536, 1e6, 1e12),
    fc.boolean(),
    fc.constantFrom(
      [],
      ["a"],
      [1],
      ["https://a.org"],
      {},
      { id: "a" },
      [{ id: "a" }],
      [{ key: "k" }],
      [{}],
    ),
  );
  const settings = SETTINGS.filter(({ key }) => !key.includes("[]"));
  fc.assert(
    fc.property(fc.constantFrom(...settings), value, ({ path }, given) => {
      const document = path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), given);
      const { problems } = readValue(ROOT, document, [], KNOWN_KEYS);
      expect(validator.Check(document)).toBe(problems.length === 0);
    }),
    { numRuns: 3000 },
  );
});
