import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readCatalog } from "../../models/index.js";
import { CATALOG_FILE } from "./ids.js";
import { scanCatalog } from "./scan-catalog.js";

test("the lines of our catalog tell the same as the whole catalog", async () => {
  const scanned = scanCatalog(await readFile(CATALOG_FILE, "utf8"));
  const { models } = await readCatalog();
  expect(scanned).toEqual(
    models.map(({ id, variants }) => ({
      id,
      variants: variants.map(({ quant, files }) => ({
        quant,
        files: files.map(({ file, size }) => ({ file, size: size ?? null })),
      })),
    })),
  );
});

test("keys of other tables, comments and unknown forms are passed over", () => {
  const toml = `
id = "none"
quant = "none"
[[models]] # first
  id = "a" # its id
  # id = "b"
  id_of = "x"
[models.more]
id = "c"
[[models.variants]]
quant = "Q4_0"
size = 5
[[models.variants.files]]
size = 1_000
file = "a.gguf"
[[models.variants.files.sources]]
file = "b.gguf"
size = 7
id = [
`;
  expect(scanCatalog(toml)).toEqual([
    { id: "a", variants: [{ quant: "Q4_0", files: [{ file: "a.gguf", size: 1_000 }] }] },
  ]);
  expect(scanCatalog("[[models.variants.files]]\nfile = 'x'\n\0")).toEqual([]);
});
