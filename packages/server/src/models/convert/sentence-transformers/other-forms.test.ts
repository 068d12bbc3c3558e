import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readGguf } from "../../../gguf/index.js";
import { convertContent } from "../__fixtures__/model-folder.js";
import { encodeSafetensors } from "../__fixtures__/safetensors.js";
import { type FolderContent, tinyBert, tinyBertTensors } from "../__fixtures__/tiny-bert.js";

/** The bytes that the tiny model becomes in 32-bit floats, with some of its files replaced. */
async function outputOf(change: FolderContent = {}): Promise<Buffer> {
  const { path } = await convertContent({ ...tinyBert(), ...change }, { type: "F32" });
  return readFile(path);
}

test("a vocabulary is the same from vocab.txt and from tokenizer.json", async () => {
  const both = await outputOf();
  expect((await outputOf({ "tokenizer.json": undefined })).equals(both)).toBe(true);
  expect((await outputOf({ "vocab.txt": undefined })).equals(both)).toBe(true);
});

test("an encoder within a larger model is found, and its training head left out", async () => {
  const tensors = tinyBertTensors().map((tensor) => ({ ...tensor, name: `bert.${tensor.name}` }));
  const head = { ...tensors[2]!, name: "cls.predictions.transform.dense.weight" };
  const weights = encodeSafetensors([...tensors, head]);
  expect((await outputOf({ "model.safetensors": weights })).equals(await outputOf())).toBe(true);
});

test("newer forms of modules and pooling mean the same", async () => {
  const newer = {
    "modules.json": [
      { type: "sentence_transformers.base.modules.transformer.Transformer", path: "" },
      {
        type: "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        path: "1_Pooling",
      },
      { type: "sentence_transformers.sentence_transformer.modules.normalize.Normalize", path: "2" },
    ],
    "1_Pooling/config.json": { embedding_dimension: 32, pooling_mode: "mean" },
  };
  expect((await outputOf(newer)).equals(await outputOf())).toBe(true);
});

test.each([
  ["cls", { pooling_mode_cls_token: true }],
  ["last", { pooling_mode_lasttoken: true, pooling_mode_cls_token: false }],
])("the pooling %s is written down", async (name, config) => {
  const { path } = await convertContent({ ...tinyBert(), "1_Pooling/config.json": config });
  expect((await readGguf(path)).pooling).toBe(name);
});

test("rows beyond the vocabulary get names that no text leads to", async () => {
  const words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sea"].join("\n");
  const bytes = await outputOf({ "vocab.txt": Buffer.from(words), "tokenizer.json": undefined });
  expect((await readGguf((await convertContent(tinyBert())).path)).vocabularySize).toBe(11);
  for (const token of ["[PAD5]", "[PAD10]"]) expect(bytes.includes(token)).toBe(true);
  expect(bytes.includes("[PAD11]")).toBe(false);
});

/** The value of a flag of the output. */
function flagOf(bytes: Buffer, key: string): number | undefined {
  return bytes[bytes.indexOf(key) + key.length + 4];
}

test.each([
  [{}, {}, 1, 1],
  [{ do_lower_case: true, strip_accents: false }, {}, 1, 0],
  [{ do_lower_case: false }, {}, 0, 0],
  [{ do_lower_case: false, strip_accents: true }, {}, 0, 1],
  [{ do_lower_case: false }, { do_lower_case: true }, 1, 1],
])("%o and %o: lower case %d, without accents %d", async (config, sentence, lower, strip) => {
  const bytes = await outputOf({
    "tokenizer_config.json": config,
    "sentence_bert_config.json": sentence,
  });
  expect(flagOf(bytes, "normalizer.lowercase")).toBe(lower);
  expect(flagOf(bytes, "normalizer.strip_accents")).toBe(strip);
});

test("what the output cannot express is told", async () => {
  expect((await convertContent(tinyBert())).notes).toEqual([]);
  const content = { ...tinyBert(), "modules.json": undefined };
  expect((await convertContent(content)).notes).toEqual([
    expect.stringContaining("does not scale its vectors"),
  ]);
});
