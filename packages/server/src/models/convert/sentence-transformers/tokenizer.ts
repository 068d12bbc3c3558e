import type { InputFiles } from "../converter.js";
import { type Refuse, refusalOf, shown } from "../refusal.js";
import { readSettings, Settings } from "../settings-file.js";
import { ownVocabulary, readVocabulary, VOCABULARY_FILE } from "./vocabulary.js";

const TOKENIZER = "tokenizer.json";
const TOKENIZER_CONFIG = "tokenizer_config.json";
const SENTENCE_CONFIG = "sentence_bert_config.json";

export const TOKENIZER_FILES: readonly string[] = [
  VOCABULARY_FILE,
  TOKENIZER,
  TOKENIZER_CONFIG,
  SENTENCE_CONFIG,
];

/** Those of 120,000 tokens have about 3 MB. */
const MOST_TOKENIZER_BYTES = 16 * 1024 * 1024;

/** What a word token is for, as `enum llama_token_type` in llama.cpp's llama.h numbers it. */
export const TOKEN_TYPES = { normal: 1, control: 3, unused: 5 } as const;

/** A WordPiece tokenizer as llama.cpp wants it. */
export interface Tokenizer {
  /** By id; as many as the token table has rows. */
  readonly tokens: readonly string[];
  /** By id. */
  readonly types: readonly number[];
  readonly ids: SpecialIds;
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
}

export interface SpecialIds {
  readonly padding: number;
  readonly unknown: number;
  readonly cls: number;
  readonly separator: number;
  /** Null where the model has none. */
  readonly mask: number | null;
}

/** What the engine puts before a token that begins a word, where the vocabulary marks those that do not. */
const WORD_START = "\u2581";
const CONTINUATION = "##";

/**
 * Reads the tokenizer of a model.
 * @param rows rows of the token table
 * @throws SomnusError `model_unavailable` when it is no WordPiece tokenizer that the engine has too, or
 *   does not fit the table
 */
export async function readTokenizer(files: InputFiles, rows: number): Promise<Tokenizer> {
  const config = await readSettingsIfThere(files, TOKENIZER_CONFIG);
  const own = files.has(TOKENIZER)
    ? await readSettings(files, TOKENIZER, MOST_TOKENIZER_BYTES)
    : null;
  if (own === null) requireBertClass(config);
  const { words, refuse } = await readVocabulary(files, own && ownVocabulary(own), rows);
  const idOf = (key: string, usual: string): number | null => {
    const id = words.indexOf(specialWord(config, key, usual));
    return id < 0 ? null : id;
  };
  const needed = (key: string, usual: string): number => {
    const id = idOf(key, usual);
    if (id !== null) return id;
    throw refuse(`lacks the ${key} ${shown(specialWord(config, key, usual))}`);
  };
  const ids: SpecialIds = {
    padding: needed("pad_token", "[PAD]"),
    unknown: needed("unk_token", "[UNK]"),
    cls: needed("cls_token", "[CLS]"),
    separator: needed("sep_token", "[SEP]"),
    mask: idOf("mask_token", "[MASK]"),
  };
  const control = new Set(Object.values(ids));
  const tokens = words.map((word, id) => (control.has(id) ? word : phantom(word)));
  const types: number[] = words.map((_, id) =>
    control.has(id) ? TOKEN_TYPES.control : TOKEN_TYPES.normal,
  );
  // Rows beyond the vocabulary are there for the sake of a round number; no text leads to them.
  for (let id = words.length; id < rows; id++) {
    tokens.push(`[PAD${id}]`);
    types.push(TOKEN_TYPES.unused);
  }
  requireUnique(tokens, refuse);
  return { tokens, types, ids, ...(await normalization(files, config, own)) };
}

/** Turns the mark of a continued word into one of a word's start. */
function phantom(word: string): string {
  const continues = word.startsWith(CONTINUATION) && word.length > CONTINUATION.length;
  return continues ? word.slice(CONTINUATION.length) : WORD_START + word;
}

function requireUnique(tokens: readonly string[], refuse: Refuse): void {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (seen.has(token))
      throw refuse(`has two words that the engine cannot tell apart: ${shown(token)}`);
    seen.add(token);
  }
}

/** A special token stands there as text or as an object with its text. */
function specialWord(config: Settings, key: string, usual: string): string {
  const value = config.value(key);
  if (value === undefined) return usual;
  if (typeof value === "string") return value;
  const content = config.within(key)?.text("content");
  if (content === undefined) throw config.refuse(`has no content for its ${key}`);
  return content;
}

function requireBertClass(config: Settings): void {
  const name = config.text("tokenizer_class");
  if (name === undefined || /^BertTokenizer(Fast)?$/.test(name)) return;
  throw config.refuse(
    `has tokenizer_class = ${shown(name)}, which is not supported: only the WordPiece tokenizer of BERT is`,
  );
}

/**
 * How texts are made alike before they are cut into tokens. The tokenizer's settings count more than
 * its compiled form, as in the transformers library; without either BERT's defaults hold.
 */
async function normalization(
  files: InputFiles,
  config: Settings,
  own: Settings | null,
): Promise<Pick<Tokenizer, "lowercase" | "stripAccents">> {
  const normalizer = own?.within("normalizer");
  const kind = normalizer?.text("type");
  if (kind !== undefined && kind !== "BertNormalizer") {
    throw normalizer!.refuse(`is ${shown(kind)}, which is not supported: only BertNormalizer is`);
  }
  const chinese =
    config.flag("tokenize_chinese_chars") ?? normalizer?.flag("handle_chinese_chars") ?? true;
  if (!chinese) {
    throw config.refuse("keeps Chinese characters together, which is not supported by the engine");
  }
  const sentence = await readSettingsIfThere(files, SENTENCE_CONFIG);
  const lowercase =
    sentence.flag("do_lower_case") === true ||
    (config.flag("do_lower_case") ?? normalizer?.flag("lowercase") ?? true);
  const stripAccents =
    config.flag("strip_accents") ?? normalizer?.flag("strip_accents") ?? lowercase;
  return { lowercase, stripAccents };
}

async function readSettingsIfThere(files: InputFiles, name: string): Promise<Settings> {
  return files.has(name) ? readSettings(files, name) : new Settings(new Map(), refusalOf(name));
}
