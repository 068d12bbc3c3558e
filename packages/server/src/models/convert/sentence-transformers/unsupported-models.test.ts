import { expect, test } from "vitest";
import { convertContent } from "../__fixtures__/model-folder.js";
import { encodeSafetensors, floats } from "../__fixtures__/safetensors.js";
import { type FolderContent, tinyBert, tinyBertTensors } from "../__fixtures__/tiny-bert.js";

/** The tiny model with some settings of one file replaced; undefined removes a setting. */
function changed(file: string, change: Record<string, unknown>): FolderContent {
  const content = tinyBert();
  return { ...content, [file]: { ...(content[file] as object), ...change } };
}

/** The tiny model with another file in place of one of its own; undefined removes it. */
const replaced = (file: string, value: unknown): FolderContent => ({
  ...tinyBert(),
  [file]: value,
});

const modules = (...kinds: string[]) =>
  replaced(
    "modules.json",
    kinds.map((kind) => ({ type: `sentence_transformers.models.${kind}`, path: "" })),
  );

const tokenizerModel = (change: object) =>
  changed("tokenizer.json", {
    model: { ...(tinyBert()["tokenizer.json"] as { model: object }).model, ...change },
  });

const tensors = (change: (list: ReturnType<typeof tinyBertTensors>) => unknown) => {
  const list = tinyBertTensors();
  change(list);
  return replaced("model.safetensors", encodeSafetensors(list));
};

const QUERY = "encoder.layer.0.attention.self.query.weight";

test.each<[string, FolderContent]>([
  [
    'model_type = "xlm-roberta", which is not supported: only plain BERT',
    changed("config.json", { model_type: "xlm-roberta" }),
  ],
  ['model_type = "nomic_bert"', changed("config.json", { model_type: "nomic_bert" })],
  ["model_type = missing", changed("config.json", { model_type: undefined })],
  ['hidden_act = "gelu_new"', changed("config.json", { hidden_act: "gelu_new" })],
  [
    'position_embedding_type = "alibi"',
    changed("config.json", { position_embedding_type: "alibi" }),
  ],
  ["is_decoder = true", changed("config.json", { is_decoder: true })],
  ["quantization_config = an object", changed("config.json", { quantization_config: {} })],
  ["embedding_size = 16", changed("config.json", { embedding_size: 16 })],
  ["3 attention heads, which do not divide 32", changed("config.json", { num_attention_heads: 3 })],
  ["hidden_size = missing", changed("config.json", { hidden_size: undefined })],
  ["hidden_size = 1.5", changed("config.json", { hidden_size: 1.5 })],
  ["vocab_size = 1e+300", changed("config.json", { vocab_size: 1e300 })],
  ["layer_norm_eps = 0,", changed("config.json", { layer_norm_eps: 0 })],
  ["config.json is missing", replaced("config.json", undefined)],
  ["config.json is not JSON", replaced("config.json", Buffer.from("{"))],
  ["PyTorch's own format", replaced("model.safetensors", undefined)],
  ['module "Dense", which is not supported', modules("Transformer", "Pooling", "Dense")],
  ["the modules Transformer, Normalize", modules("Transformer", "Normalize")],
  ["the modules Pooling, Transformer", modules("Pooling", "Transformer")],
  ["modules.json is an object", replaced("modules.json", {})],
  ["1_Pooling/config.json is missing", replaced("1_Pooling/config.json", undefined)],
  [
    'pools by "max_tokens", which is not supported',
    changed("1_Pooling/config.json", {
      pooling_mode_mean_tokens: false,
      pooling_mode_max_tokens: true,
    }),
  ],
  [
    "switches 2 ways of pooling on (cls_token, mean_tokens)",
    changed("1_Pooling/config.json", { pooling_mode_cls_token: true }),
  ],
  [
    "switches 0 ways of pooling on",
    changed("1_Pooling/config.json", { pooling_mode_mean_tokens: false }),
  ],
  [
    "for vectors of 64 elements, the encoder has 32",
    changed("1_Pooling/config.json", { word_embedding_dimension: 64 }),
  ],
  ['a tokenizer of type "Unigram"', tokenizerModel({ type: "Unigram" })],
  ['continues words with "@@"', tokenizerModel({ continuing_subword_prefix: "@@" })],
  [
    "disagree on token 5",
    tokenizerModel({
      vocab: { "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, b: 5, a: 6 },
    }),
  ],
  ['gives "b" the id 0, which is not free', tokenizerModel({ vocab: { a: 0, b: 0 } })],
  ['gives "a" the id 9, which is not free', tokenizerModel({ vocab: { a: 9, b: 0 } })],
  ["has a word that is no text", tokenizerModel({ vocab: { [String.fromCharCode(0xd800)]: 0 } })],
  ['(normalizer) is "Lowercase"', changed("tokenizer.json", { normalizer: { type: "Lowercase" } })],
  [
    'tokenizer_class = "MPNetTokenizer"',
    {
      ...changed("tokenizer_config.json", { tokenizer_class: "MPNetTokenizer" }),
      "tokenizer.json": undefined,
    },
  ],
  [
    "keeps Chinese characters together",
    changed("tokenizer_config.json", { tokenize_chinese_chars: false }),
  ],
  [
    'lacks the cls_token "<s>"',
    changed("tokenizer_config.json", { cls_token: { content: "<s>" } }),
  ],
  ["cls_token", changed("tokenizer_config.json", { cls_token: ["[CLS]"] })],
  [
    "has 20000000 words, the model has vectors for 11",
    replaced("vocab.txt", Buffer.alloc(20_000_000, "\n").fill("x", 19_999_999)),
  ],
  ["vocab.txt is missing", { ...tinyBert(), "vocab.txt": undefined, "tokenizer.json": undefined }],
  [
    "the engine cannot tell apart",
    {
      ...replaced("vocab.txt", Buffer.from("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\na\n")),
      "tokenizer.json": undefined,
    },
  ],
  [
    "has 12 words, the model has vectors for 11",
    {
      ...replaced(
        "vocab.txt",
        Buffer.from(Array.from({ length: 12 }, (_, i) => `${i}`).join("\n")),
      ),
      "tokenizer.json": undefined,
    },
  ],
  [
    `lacks tensor "${QUERY}"`,
    tensors((list) =>
      list.splice(
        list.findIndex(({ name }) => name === QUERY),
        1,
      ),
    ),
  ],
  ["of shape [11, 32], config.json says [12, 32]", changed("config.json", { vocab_size: 12 })],
  [
    "of type I64, not F32",
    tensors((list) =>
      list.splice(1, 1, {
        name: list[1]!.name,
        type: "I64",
        shape: list[1]!.shape,
        data: new Uint8Array(8 * 11 * 32),
      }),
    ),
  ],
  [
    'holds tensor "classifier.weight"',
    tensors((list) => list.push(floats("classifier.weight", [1], new Float32Array(1)))),
  ],
])("what an engine would not compute is named: %s", async (expected, content) => {
  await expect(convertContent(content)).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining(expected),
  });
});
