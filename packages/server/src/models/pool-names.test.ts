import { afterEach, expect, it } from "vitest";
import { CATALOG_ID, createPool, type PoolSettings } from "./__fixtures__/pool.js";

let made: Awaited<ReturnType<typeof createPool>>;
afterEach(() => made.remove());

async function openPool(settings: PoolSettings) {
  made = await createPool(settings);
  await made.pool.open();
  return made.pool;
}

it("names the model that a default by alias leads to", async () => {
  const pool = await openPool({
    models: [{ id: "mine", weights_path: "mine.gguf" }],
    aliases: { usual: "mine" },
    defaultModel: "usual",
  });
  expect(pool.defaultModel).toBe("mine");
  expect((await pool.resolve(undefined)).id).toBe("mine");
});

it.each<[string, PoolSettings, string, string]>([
  ["not installed", {}, CATALOG_ID, `somnus pull ${CATALOG_ID}`],
  ["not configured", { models: [{ id: "mine" }] }, CATALOG_ID, `[[models]] block with id =`],
  [
    "installed, asked for by its quantization",
    { isInstalled: async () => true },
    `${CATALOG_ID}:Q4_0`,
    `Did you mean ${CATALOG_ID}?`,
  ],
  ["behind an alias", { aliases: { usual: CATALOG_ID } }, "usual", `somnus pull ${CATALOG_ID}`],
  ["misspelled", { models: [{ id: "mine" }] }, "mien", "Did you mean mine?"],
])("says how to get a model that is %s", async (_, settings, name, hint) => {
  const pool = await openPool(settings);
  const refusal = await pool.resolve(name).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ code: "model_not_found", param: "model" });
  expect((refusal as Error).message).toContain(hint);
});

it("refuses a model that is switched off as such", async () => {
  const pool = await openPool({ models: [{ id: "mine", enabled: false }] });
  await expect(pool.resolve("mine")).rejects.toMatchObject({ code: "model_disabled" });
});
