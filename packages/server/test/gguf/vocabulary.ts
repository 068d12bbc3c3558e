import { bool, type GgufSource, type GgufValue, string, u32 } from "./write-gguf.js";

/** Token kinds of `tokenizer.ggml.token_type`: `enum llama_token_type` in llama.cpp's llama.h. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

const WORDS = [
  "the",
  "sun",
  "moon",
  "sleep",
  "dream",
  "river",
  "stone",
  "light",
  "and",
  "of",
  "is",
];
const WORD_START = "\u2581";

export interface Vocabulary {
  readonly size: number;
  /** Tokens at the start that no generated text should have: control tokens and bytes. */
  readonly unspoken: number;
  /** Words that are one token, with the space before them, and its id. */
  readonly words: ReadonlyMap<string, number>;
  readonly metadata: readonly (readonly [string, GgufValue])[];
}

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";

/** The model with another chat template, or as it is when there is none. */
export function withTemplate(model: GgufSource, template: string | undefined): GgufSource {
  if (template === undefined) return model;
  const others = model.metadata.filter(([key]) => key !== "tokenizer.chat_template");
  return { ...model, metadata: [...others, ["tokenizer.chat_template", string(template)]] };
}

/** A SentencePiece vocabulary that encodes any text: control tokens, all bytes, letters, and some words. */
export function sentencePieceVocabulary(words: readonly string[] = WORDS): Vocabulary {
  const tokens: string[] = ["<unk>", "<s>", "</s>"];
  const kinds: number[] = [UNKNOWN, CONTROL, CONTROL];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
    kinds.push(BYTE);
  }
  const unspoken = tokens.length;
  const pieces = new Set([WORD_START]);
  for (let code = 0x21; code < 0x7f; code++) pieces.add(String.fromCharCode(code));
  for (const word of words) {
    // A word is only found when every shorter beginning of it is a token too.
    for (let end = 1; end <= word.length; end++) pieces.add(WORD_START + word.slice(0, end));
  }
  for (const piece of pieces) {
    tokens.push(piece);
    kinds.push(NORMAL);
  }
  const scores = tokens.map((_, id) => (id < unspoken ? 0 : unspoken - id));
  return {
    size: tokens.length,
    unspoken,
    words: new Map(words.map((word) => [word, tokens.indexOf(WORD_START + word)])),
    metadata: [
      ["tokenizer.ggml.model", string("llama")],
      ["tokenizer.ggml.pre", string("default")],
      ["tokenizer.ggml.tokens", { type: "array", of: "string", values: tokens }],
      ["tokenizer.ggml.scores", { type: "array", of: "f32", values: scores }],
      ["tokenizer.ggml.token_type", { type: "array", of: "i32", values: kinds }],
      ["tokenizer.ggml.bos_token_id", u32(1)],
      ["tokenizer.ggml.eos_token_id", u32(2)],
      ["tokenizer.ggml.unknown_token_id", u32(0)],
      ["tokenizer.ggml.add_bos_token", bool(true)],
      ["tokenizer.chat_template", string(CHAT_TEMPLATE)],
    ],
  };
}

/** A WordPiece vocabulary: the five special tokens of BERT, letters and a few words. */
export function wordPieceVocabulary(): Vocabulary {
  const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  const pieces = new Set<string>();
  for (let code = 0x21; code < 0x7f; code++) {
    pieces.add(WORD_START + String.fromCharCode(code));
    pieces.add(String.fromCharCode(code));
  }
  for (const word of WORDS) pieces.add(WORD_START + word);
  const tokens = [...special, ...pieces];
  const kinds = tokens.map((_, id) => (id < special.length ? CONTROL : NORMAL));
  return {
    size: tokens.length,
    unspoken: special.length,
    words: new Map(WORDS.map((word) => [word, tokens.indexOf(WORD_START + word)])),
    metadata: [
      ["tokenizer.ggml.model", string("bert")],
      ["tokenizer.ggml.pre", string("default")],
      ["tokenizer.ggml.tokens", { type: "array", of: "string", values: tokens }],
      ["tokenizer.ggml.token_type", { type: "array", of: "i32", values: kinds }],
      ["tokenizer.ggml.token_type_count", u32(2)],
      ["tokenizer.ggml.padding_token_id", u32(0)],
      ["tokenizer.ggml.unknown_token_id", u32(1)],
      ["tokenizer.ggml.cls_token_id", u32(2)],
      ["tokenizer.ggml.bos_token_id", u32(2)],
      ["tokenizer.ggml.eos_token_id", u32(3)],
      // The engine spells this key so.
      ["tokenizer.ggml.seperator_token_id", u32(3)],
      ["tokenizer.ggml.mask_token_id", u32(4)],
      ["tokenizer.ggml.add_bos_token", bool(true)],
      ["tokenizer.ggml.add_eos_token", bool(true)],
    ],
  };
}
