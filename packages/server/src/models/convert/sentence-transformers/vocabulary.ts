import type { InputFiles } from "../converter.js";
import { readText } from "../input-file.js";
import { type Refuse, refusalOf, shown } from "../refusal.js";
import type { Settings } from "../settings-file.js";

export const VOCABULARY_FILE = "vocab.txt";

/** That of half a million words has 5 MB. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The words of a vocabulary by id, and the error for what is wrong with them. */
export interface Vocabulary {
  readonly words: readonly string[];
  readonly refuse: Refuse;
}

/**
 * The vocabulary of vocab.txt, one word a line, or that of tokenizer.json where there is no such file;
 * where both are there they must agree.
 * @param own what tokenizer.json says, null without one
 * @param rows the most words that there can be
 * @throws SomnusError `model_unavailable` when there is none, or it is damaged or too large
 */
export async function readVocabulary(
  files: InputFiles,
  own: Vocabulary | null,
  rows: number,
): Promise<Vocabulary> {
  const refuse = refusalOf(VOCABULARY_FILE);
  let vocabulary = own;
  if (files.has(VOCABULARY_FILE)) {
    const words = linesOf(await readText(files, VOCABULARY_FILE, MOST_BYTES), rows, refuse);
    vocabulary = { words, refuse };
    if (own !== null) requireEqual(words, own, refuse);
  }
  if (vocabulary === null) throw refuse("is missing, and tokenizer.json with it");
  if (vocabulary.words.length > rows)
    throw tooMany(vocabulary.words.length, rows, vocabulary.refuse);
  return vocabulary;
}

/**
 * The vocabulary of a tokenizer.json.
 * @throws SomnusError `model_unavailable` when it is no WordPiece tokenizer or its ids have gaps
 */
export function ownVocabulary(tokenizer: Settings): Vocabulary {
  const model = tokenizer.within("model");
  const type = model?.text("type");
  if (!model || (type !== undefined && type !== "WordPiece")) {
    throw tokenizer.refuse(
      `has a tokenizer of type ${shown(type)}, which is not supported: only WordPiece is`,
    );
  }
  const prefix = model.text("continuing_subword_prefix") ?? "##";
  if (prefix !== "##") {
    throw tokenizer.refuse(
      `continues words with ${shown(prefix)}, which is not supported: only ## is`,
    );
  }
  const vocabulary = model.within("vocab");
  if (!vocabulary) throw tokenizer.refuse("has no vocabulary");
  const entries = [...vocabulary.entries()];
  const words = new Array<string | undefined>(entries.length).fill(undefined);
  for (const [word, id] of entries) {
    const free = typeof id === "number" && id in words && words[id] === undefined;
    if (!free) {
      throw tokenizer.refuse(`gives ${shown(word)} the id ${shown(id)}, which is not free`);
    }
    // Half of a surrogate pair cannot be written, and any two would be written alike.
    if (!word.isWellFormed()) throw tokenizer.refuse(`has a word that is no text: ${shown(word)}`);
    words[id] = word;
  }
  // As many ids as words, none twice: all are taken.
  return { words: words as string[], refuse: tokenizer.refuse };
}

/** Nothing is cut into lines before their number is known to be one of words. */
function linesOf(text: string, most: number, refuse: Refuse): string[] {
  let end = text.length;
  while (text[end - 1] === "\n" || text[end - 1] === "\r") end--;
  const content = text.slice(0, end);
  let lines = 1;
  for (let at = content.indexOf("\n"); at >= 0; at = content.indexOf("\n", at + 1)) lines++;
  if (lines > most) throw tooMany(lines, most, refuse);
  return content.split("\n").map((line) => line.replace(/\r$/, ""));
}

function tooMany(words: number, rows: number, refuse: Refuse): Error {
  return refuse(`has ${words} words, the model has vectors for ${rows}`);
}

function requireEqual(words: readonly string[], own: Vocabulary, refuse: Refuse): void {
  const count = Math.max(words.length, own.words.length);
  for (let id = 0; id < count; id++) {
    if (words[id] === own.words[id]) continue;
    throw refuse(
      `and tokenizer.json disagree on token ${id}: ${shown(words[id])} and ${shown(own.words[id])}`,
    );
  }
}
