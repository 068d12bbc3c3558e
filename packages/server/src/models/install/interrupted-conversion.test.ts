import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Artifacts } from "../../artifacts/index.js";
import type { CatalogVariant } from "../catalog/index.js";
import { joining, openShop, type Shop } from "./__fixtures__/shop.js";
import { installVariant, isInstalled } from "./install.js";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => shop.remove());

it("goes on from whatever a killed process left, at every step", async () => {
  const inputs = [await shop.input("x.bin", "xx"), await shop.input("deep/y.bin", "yyy")];
  const variant = { quant: "F16", files: [shop.converted("xy.gguf", "xxyyy", inputs)] };
  const states: string[] = [];
  /** What a process that dies here leaves: its locks are nobody's, so they are not copied. */
  async function remember(step: string) {
    const state = join(shop.root, `${states.length} ${step}`);
    await cp(shop.modelsDir, state, {
      recursive: true,
      filter: (path) => !/\.(lock|converting)$/.test(basename(path)),
    });
    states.push(state);
  }
  const artifacts: Artifacts = {
    ...shop.artifacts,
    async fetch(...args) {
      const fetched = await shop.artifacts.fetch(...args);
      await remember(`fetched ${args[0].file}`);
      return fetched;
    },
    async adopt(...args) {
      await remember("named");
      const adopted = await shop.artifacts.adopt(...args);
      await remember("adopted");
      return adopted;
    },
  };
  const install = (modelsDir: string, by: Artifacts, on: (step: string) => Promise<void>) =>
    installVariant(variant, {
      artifacts: by,
      modelsDir,
      on: () => {},
      signal: new AbortController().signal,
      converters: [joining(on)],
    });
  await install(shop.modelsDir, artifacts, remember);
  expect(states.map((state) => basename(state).slice(2))).toEqual(
    expect.arrayContaining(["fetched x.bin", "prepare", "write", "check", "named", "adopted"]),
  );

  for (const state of states) {
    await install(state, shop.artifacts, async () => {});
    expect(await readFile(join(state, "xy.gguf"), "utf8"), state).toBe("xxyyy");
    expect(await isInstalled(variant, shop.artifacts, state), state).toBe(true);
    // Where a process died after the file had its name, an empty folder may stay.
    expect(await filesUnder(join(state, ".inputs")), state).toEqual([]);
  }
});

it("publishes a result that was finished but not named yet without converting again", async () => {
  const inputs = [await shop.input("x.bin", "xx")];
  const variant: CatalogVariant = {
    quant: "F16",
    files: [shop.converted("xy.gguf", "xx", inputs)],
  };
  const waiting = join(shop.modelsDir, ".inputs", "xy.gguf");
  await mkdir(waiting, { recursive: true });
  await cp(join(shop.stock, "x.bin"), join(waiting, "xy.gguf"));
  await installVariant(variant, {
    artifacts: shop.artifacts,
    modelsDir: shop.modelsDir,
    on: () => {},
    signal: new AbortController().signal,
    converters: [joining(() => Promise.reject(new Error("converted again")))],
  });
  expect(await shop.read("xy.gguf")).toBe("xx");
});

it("lets two callers make one file, one after the other", async () => {
  const inputs = [await shop.input("x.bin", "xx")];
  const variant = { quant: "F16", files: [shop.converted("xy.gguf", "xx", inputs)] };
  let conversions = 0;
  const converter = joining(async (step) => {
    if (step === "prepare") conversions += 1;
  });
  const install = () =>
    installVariant(variant, {
      artifacts: shop.artifacts,
      modelsDir: shop.modelsDir,
      on: () => {},
      signal: new AbortController().signal,
      converters: [converter],
    });
  await Promise.all([install(), install()]);
  expect(conversions).toBe(1);
  expect(await shop.read("xy.gguf")).toBe("xx");
});

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
