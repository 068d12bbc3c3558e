import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { writeTinyLlama } from "../test/gguf/index.js";
import type { Engine } from "./engines/index.js";
import type { Corrections, Grounds } from "./model-memory.js";
import { createPool } from "./models/__fixtures__/pool.js";
import { schedulableModels } from "./schedulable-models.js";

const CONTEXT = 4_096;

let made: Awaited<ReturnType<typeof createPool>>;
afterEach(() => made.remove());

const grounds = (build: string): Grounds => ({
  machine: { devices: [] } as unknown as Grounds["machine"],
  threads: 2,
  build,
});

async function setUp() {
  made = await createPool({ models: [{ id: "tiny", weights_path: "tiny.gguf" }] });
  const file = join(made.modelsDir, "tiny.gguf");
  await writeTinyLlama(file);
  await made.pool.open();
  const state = { grounds: grounds("b1"), batchTokens: 128, revision: 0 };
  const corrected = vi.fn<Corrections["corrected"]>((estimate) => ({ ...estimate }));
  const schedulable = schedulableModels({
    engine: { batchTokens: () => state.batchTokens } as unknown as Engine,
    grounds: () => state.grounds,
    corrections: {
      corrected,
      get revision() {
        return state.revision;
      },
    },
    learned: { reloadMs: () => null, holdMs: () => null },
    slotFolder: "/slots",
  });
  return { state, corrected, schedulable, file, pool: made.pool };
}

it("keeps what a model's file says for as long as the pool has the model so", async () => {
  const { schedulable, pool, file } = await setUp();
  const first = schedulable(await pool.resolve("tiny"));
  const second = schedulable(await pool.resolve("tiny"));
  expect(second.spec).toBe(first.spec);
  expect(second.terms.memory).toBe(first.terms.memory);
  expect(first).toMatchObject({ files: [file], plan: { slotFolder: "/slots" } });
  await writeTinyLlama(file, "{{ messages }}");
  await pool.refresh();
  const changed = schedulable(await pool.resolve("tiny"));
  expect(changed.spec).not.toBe(first.spec);
});

it.each<[string, (state: Awaited<ReturnType<typeof setUp>>["state"]) => void]>([
  ["loads have shown more", (state) => state.revision++],
  ["the machine was measured", (state) => (state.grounds = grounds("b2"))],
  ["another batch is best", (state) => (state.batchTokens = 64)],
])("makes an estimate anew when %s, and only then", async (_, change) => {
  const { schedulable, pool, state, corrected } = await setUp();
  const { memory } = schedulable(await pool.resolve("tiny")).terms;
  const first = memory!.estimate(CONTEXT);
  expect(memory!.estimate(CONTEXT)).toBe(first);
  expect(corrected).toHaveBeenCalledTimes(1);
  change(state);
  expect(memory!.estimate(CONTEXT)).not.toBe(first);
  expect(corrected).toHaveBeenCalledTimes(2);
});

it("refuses a model whose file cannot be read", async () => {
  const { schedulable, pool, file } = await setUp();
  await writeFile(file, "no model");
  await pool.refresh();
  const broken = pool.list()[0]!;
  expect(() => schedulable(broken)).toThrow(/tiny cannot be served/);
});
