import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Catalog, CatalogVariant } from "../catalog/index.js";
import { joining, openShop, type Shop } from "./__fixtures__/shop.js";
import { installVariant, isInstalled } from "./install.js";
import { removeVariant } from "./remove.js";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => shop.remove());

const install = (variant: CatalogVariant) =>
  installVariant(variant, {
    artifacts: shop.artifacts,
    modelsDir: shop.modelsDir,
    on: () => {},
    signal: new AbortController().signal,
    converters: [joining()],
  });
const remove = (variant: CatalogVariant, ...variants: CatalogVariant[]) =>
  removeVariant(variant, {
    catalog: { catalog_version: 1, models: [{ variants }] } as unknown as Catalog,
    artifacts: shop.artifacts,
    modelsDir: shop.modelsDir,
  });

it("removes the files with their receipts and what an unfinished conversion left", async () => {
  const inputs = [await shop.input("x.bin", "xx")];
  const variant: CatalogVariant = {
    quant: "F16",
    files: [await shop.fetched("a.gguf", "aaa"), shop.converted("xy.gguf", "xx", inputs)],
  };
  await install(variant);
  const waiting = join(shop.modelsDir, ".inputs", "xy.gguf");
  await mkdir(waiting, { recursive: true });
  await writeFile(join(waiting, "x.bin"), "xx");
  expect(await remove(variant, variant)).toEqual([
    { file: "a.gguf", size: 3, removed: true },
    { file: "xy.gguf", size: 2, removed: true },
  ]);
  expect(await isInstalled(variant, shop.artifacts, shop.modelsDir)).toBe(false);
  expect(await shop.names()).toEqual([]);
});

it("keeps a file that another installed variant uses", async () => {
  const shared = await shop.fetched("mmproj.gguf", "m");
  const first = { quant: "Q4_0", files: [await shop.fetched("a.gguf", "aaa"), shared] };
  const second = { quant: "Q8_0", files: [await shop.fetched("b.gguf", "bbbb"), shared] };
  await install(first);
  await install(second);
  expect(await remove(first, first, second)).toEqual([
    { file: "a.gguf", size: 3, removed: true },
    { file: "mmproj.gguf", size: 1, removed: false },
  ]);
  expect(await isInstalled(second, shop.artifacts, shop.modelsDir)).toBe(true);
  expect(await remove(second, first, second)).toMatchObject([{ removed: true }, { removed: true }]);
  expect(await shop.names()).toEqual([]);
});

it("finds nothing to remove where nothing is", async () => {
  const variant = { quant: "Q4_0", files: [await shop.fetched("a.gguf", "aaa")] };
  expect(await remove(variant, variant)).toEqual([{ file: "a.gguf", size: 0, removed: true }]);
});
