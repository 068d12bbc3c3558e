import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { CatalogVariant } from "../catalog/index.js";
import { joining, openShop, type Shop } from "./__fixtures__/shop.js";
import { installVariant, isInstalled } from "./install.js";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => shop.remove());

const install = (variant: CatalogVariant, on: (file?: string) => void = () => {}) =>
  installVariant(variant, {
    artifacts: shop.artifacts,
    modelsDir: shop.modelsDir,
    on: (progress) => on(progress.file),
    signal: new AbortController().signal,
    converters: [joining()],
  });
const here = (variant: CatalogVariant) => isInstalled(variant, shop.artifacts, shop.modelsDir);

it("brings all files of a variant and says of each how far it is", async () => {
  const variant = {
    quant: "Q4_0",
    files: [await shop.fetched("a.gguf", "aaa"), await shop.fetched("b.gguf", "bbbb")],
  };
  expect(await here(variant)).toBe(false);
  const told = new Set<string | undefined>();
  await install(variant, (file) => told.add(file));
  expect([await shop.read("a.gguf"), await shop.read("b.gguf")]).toEqual(["aaa", "bbbb"]);
  expect([...told].sort()).toEqual(["a.gguf", "b.gguf"]);
  expect(await here(variant)).toBe(true);
});

it("makes a converted file out of its inputs and leaves nothing of them", async () => {
  const inputs = [await shop.input("x.bin", "xx"), await shop.input("deep/y.bin", "yyy")];
  const variant = { quant: "F16", files: [shop.converted("xy.gguf", "xxyyy", inputs)] };
  await install(variant);
  expect(await shop.read("xy.gguf")).toBe("xxyyy");
  expect(await here(variant)).toBe(true);
  expect(await shop.names()).toEqual(["xy.gguf"]);
});

it("keeps what it has when a file cannot be had, and goes on from there", async () => {
  const first = await shop.fetched("a.gguf", "aaa");
  const late = await shop.fetched("b.gguf", "bbbb");
  const variant = { quant: "Q4_0", files: [first, late] };
  await install({ quant: "Q4_0", files: [first] });
  await rm(shop.stock, { recursive: true });
  await expect(install(variant)).rejects.toMatchObject({ code: "model_unavailable" });
  await shop.fetched("b.gguf", "bbbb");
  await install(variant);
  expect(await here(variant)).toBe(true);
});

it("never stores a conversion that gives another file than the catalog says", async () => {
  const inputs = [await shop.input("x.bin", "xx")];
  const variant = { quant: "F16", files: [shop.converted("xy.gguf", "zz", inputs)] };
  await expect(install(variant)).rejects.toMatchObject({ code: "model_unavailable" });
  expect(await shop.names()).toEqual([".inputs"]);
});

it("refuses to begin where the disk has no room for all of it, inputs included", async () => {
  const inputs = [{ ...(await shop.input("x.bin", "xx")), size: 2 ** 52 }];
  const file = await shop.fetched("a.gguf", "aaa");
  const variant = { quant: "F16", files: [file, shop.converted("xy.gguf", "xx", inputs)] };
  await expect(install(variant)).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringMatching(/^45035\d\d\.\d GB are needed in .*, where .* free\. Free /),
  });
  expect(await shop.names()).toEqual([]);
});

it("pins a file of unknown size and hash by its first download", async () => {
  const { role, file, sources } = await shop.fetched("a.gguf", "aaa");
  const variant: CatalogVariant = { quant: "Q4_0", files: [{ role, file, sources }] };
  await install(variant);
  expect(await here(variant)).toBe(true);
  await writeFile(join(shop.modelsDir, "a.gguf"), "something else");
  expect(await here(variant)).toBe(false);
});
