import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { writeTinyLlama } from "../../test/gguf/index.js";
import { CATALOG_FILE, CATALOG_ID, createPool } from "./__fixtures__/pool.js";

let made: Awaited<ReturnType<typeof createPool>>;
afterEach(() => made.remove());

it("serves a configured model once its file has been fetched", async () => {
  made = await createPool({ models: [{ id: CATALOG_ID }] });
  const { pool, modelsDir } = made;
  await pool.open();
  const [missing] = pool.list();
  expect(missing!.problem).toContain("does not exist");
  await writeTinyLlama(join(modelsDir, CATALOG_FILE));
  await pool.refresh();
  const [model] = pool.list();
  expect(model).toMatchObject({ problem: null, contextTokens: 2_048, created: missing!.created });
});

it("looks again at a broken file when it has changed, at the next request for the model", async () => {
  made = await createPool({ models: [{ id: "mine", weights_path: "mine.gguf" }] });
  const { pool, modelsDir } = made;
  await writeFile(join(modelsDir, "mine.gguf"), "not a model");
  await pool.open();
  expect((await pool.resolve("mine")).problem).toContain("not a GGUF file");
  await writeTinyLlama(join(modelsDir, "mine.gguf"));
  expect((await pool.resolve("mine")).problem).toBeNull();
});

it("finds what was installed while it was looking", async () => {
  let isHere = false;
  let looks = 0;
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  made = await createPool({
    isInstalled: async () => {
      const seen = isHere;
      if (looks++ === 1) await held;
      return seen;
    },
  });
  const { pool } = made;
  await pool.open();
  const early = pool.refresh();
  await expect.poll(() => looks).toBe(2);
  isHere = true;
  const late = pool.refresh();
  goOn();
  await early;
  expect(pool.list()).toEqual([]);
  await late;
  expect(pool.list().map((model) => model.id)).toEqual([CATALOG_ID]);
});
