import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { writeTinyBert, writeTinyLlama } from "../../test/gguf/index.js";
import { specOf } from "../model-memory.js";
import { createPool } from "./__fixtures__/pool.js";
import type { PoolModel } from "./index.js";

let remove = async () => {};
afterEach(() => remove());

/** The model of a block over one of the tiny files, bert.gguf (trained for 512 tokens) or tiny.gguf (2048). */
async function modelOf(block: Record<string, unknown>): Promise<PoolModel> {
  const { pool, modelsDir, remove: away } = await createPool({ models: [{ id: "m", ...block }] });
  remove = away;
  await writeTinyBert(join(modelsDir, "bert.gguf"));
  await writeTinyLlama(join(modelsDir, "tiny.gguf"));
  await pool.open();
  return pool.resolve("m");
}

const embeds = { modality: "embeddings", weights_path: "bert.gguf" };

describe("an embedding model of the pool", () => {
  it("never has more context than it was trained for", async () => {
    const trained = (await modelOf(embeds)).gguf!.contextLength!;
    for (const context_len of [undefined, 100_000]) {
      const { contextTokens, maxContextTokens } = await modelOf({ ...embeds, context_len });
      expect([contextTokens, maxContextTokens]).toEqual([trained, trained]);
      await remove();
    }
    const shorter = await modelOf({ ...embeds, context_len: 256 });
    expect([shorter.contextTokens, shorter.maxContextTokens]).toEqual([256, 256]);
  });

  it("is run for vectors alone, and one that chats for text", async () => {
    const model = await modelOf(embeds);
    expect(specOf({ ...model, gguf: model.gguf! }).makes).toBe("vectors");
    const ranks = { ...model, gguf: { ...model.gguf!, pooling: "rank" } };
    expect(specOf(ranks).makes).toBe("ranks");
    await remove();
    const chats = await modelOf({ weights_path: "tiny.gguf" });
    expect(specOf({ ...chats, gguf: chats.gguf! }).makes).toBeUndefined();
    expect(chats.maxContextTokens).toBeGreaterThan(100);
  });

  it("has vectors that can be shortened only where its block or the catalog says so", async () => {
    expect((await modelOf(embeds)).matryoshka).toBe(false);
    await remove();
    expect((await modelOf({ ...embeds, matryoshka: true })).matryoshka).toBe(true);
  });
});
