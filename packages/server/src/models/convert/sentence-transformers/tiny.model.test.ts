import { join } from "node:path";
import { expect, test } from "vitest";
import { withEmbeddingServer } from "../__fixtures__/embedding-server.js";
import { convertFolder, modelFolder } from "../__fixtures__/model-folder.js";
import { cosine, ReferenceBert } from "../__fixtures__/reference-bert.js";
import { tinyBert } from "../__fixtures__/tiny-bert.js";

const CONTEXT = 16;
const TEXTS = ["a b sea", "seas", "ab sea a"];

test.each([
  ["F32", 0.99999],
  ["F16", 0.9999],
  ["Q8_0", 0.999],
])(
  "pooling by the first token and rows beyond the vocabulary reach the engine: %s",
  async (type, nearness) => {
    const folder = await modelFolder({
      ...tinyBert(40),
      "1_Pooling/config.json": { word_embedding_dimension: 32, pooling_mode_cls_token: true },
      "vocab.txt": tinyBert()["vocab.txt"],
      "tokenizer.json": undefined,
    });
    const { path } = await convertFolder(folder, join(folder, "model.gguf"), { type });
    const [ids, vectors] = await withEmbeddingServer(path, CONTEXT, async (server) => [
      await Promise.all(TEXTS.map((text) => server.tokenize(text))),
      await server.embed(TEXTS),
    ]);
    const reference = await ReferenceBert.read({
      config: join(folder, "config.json"),
      weights: join(folder, "model.safetensors"),
      vocabulary: join(folder, "vocab.txt"),
    });
    for (const [i, text] of TEXTS.entries()) {
      const expected = reference.tokenize(text);
      expect(ids[i]).toEqual(expected);
      expect(cosine(vectors[i]!, reference.embed(expected, "cls"))).toBeGreaterThan(nearness);
    }
  },
);
