import { expect, it } from "vitest";
import { downloadSize, variantSize } from "./facts.js";
import type { CatalogVariant } from "./schema.js";

const sources = [{ type: "https" as const, url: "https://example.org/a" }];
const sha256 = "0".repeat(64);

it("adds up the files of a variant, and what is to be fetched where one is converted", () => {
  const variant: CatalogVariant = {
    quant: "F16",
    files: [
      { role: "aux", file: "a", size: 3, sources },
      {
        role: "weights",
        file: "b",
        size: 40,
        sha256,
        convert: { converter: "x", type: "F16", inputs: [{ file: "c", size: 500, sources }] },
      },
    ],
  };
  expect([variantSize(variant), downloadSize(variant)]).toEqual([43, 503]);
});

it("does not guess where the size of one file is not known", () => {
  const variant: CatalogVariant = {
    quant: "F16",
    files: [
      { role: "weights", file: "a", size: 3, sources },
      { role: "aux", file: "b", sources },
    ],
  };
  expect([variantSize(variant), downloadSize(variant)]).toEqual([null, null]);
});
