import { expect, test } from "vitest";
import { readCatalog } from "../models/index.js";
import { runCli } from "./__fixtures__/cli.js";
import type { CatalogRow } from "./catalog.js";

const rowsOf = async (...flags: string[]) => {
  const { code, out } = await runCli(["catalog", "--json", ...flags]);
  expect(code).toBe(0);
  return JSON.parse(out) as CatalogRow[];
};

test("every variant of the catalog is listed with what is known of it", async () => {
  const { models } = await readCatalog();
  const rows = await rowsOf();
  const variants = models.flatMap(({ id, variants }) => variants.map(({ quant }) => [id, quant]));
  expect(rows.map(({ id, quant }) => [id, quant])).toEqual(variants);
  for (const { id, variants } of models) {
    const own = rows.filter((row) => row.id === id);
    expect(own.filter((row) => row.default)).toHaveLength(1);
    expect(own).toHaveLength(variants.length);
  }
  for (const row of rows) {
    expect(row).toMatchObject({ installed: false, tested: expect.any(Boolean) });
    if (row.size !== null) expect(row.size).toBeGreaterThan(1e6);
  }
});

test("a search finds what has each of its words", async () => {
  const [first] = (await readCatalog()).models;
  const [start = "", ...rest] = first!.name.toUpperCase().split(" ");
  const rows = await rowsOf("--search", `${rest.at(-1) ?? ""} ${start}`);
  expect(rows.map(({ id }) => id)).toContain(first!.id);
  expect(await rowsOf("--search", `${start} xyzzy`)).toEqual([]);
});

test("a search without a result says where else to look", async () => {
  const { code, out } = await runCli(["catalog", "--search", "xyzzy"]);
  expect(code).toBe(0);
  expect(out).toContain("somnus pull OWNER/REPO");
});

test("a modality is a filter, also written with a hyphen", async () => {
  const rows = await rowsOf("--modality", "text-generation");
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    expect([row.modality, ...row.additional_modalities]).toContain("text_generation");
  }
  expect(rows.length).toBeLessThan((await rowsOf()).length);
});

test("an unknown modality is answered with those that there are", async () => {
  const { code, err } = await runCli(["catalog", "--modality", "text_generatoin"]);
  expect(code).toBe(2);
  expect(err).toContain("Did you mean text_generation?");
});

test("--installed leaves out what is not here", async () => {
  expect(await rowsOf("--installed")).toEqual([]);
});

test("the table fits a narrow terminal", async () => {
  const { raw } = await runCli(["catalog"], { terminal: 70, env: { NO_COLOR: "1" } });
  const table = raw.split("\n").filter((line) => !line.includes("somnus"));
  for (const line of table) expect(line.length).toBeLessThanOrEqual(70);
});
