import type { Ranks, TokenFrame } from "../engine.js";
import { brokenAnswer } from "./errors.js";

/** Posts to the engine and gives what it answered with 200. @throws SomnusError */
export type Ask = (path: string, body: unknown, signal: AbortSignal) => Promise<unknown>;

/** No vocabulary has it: it stands between texts, and comes back as it was sent. */
const BETWEEN = -1;

/** As `Loaded.tokenize`: all texts in one request, which costs thousands of short texts a tenth of the time. */
export async function tokenize(
  ask: Ask,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[][]> {
  const content = texts.flatMap((text) => [BETWEEN, text.toWellFormed()]);
  const found: number[][] = [];
  for (const token of await tokensOf(ask, content, false, signal)) {
    if (token === BETWEEN) found.push([]);
    else found.at(-1)?.push(token);
  }
  if (found.length !== texts.length) throw brokenAnswer(found);
  return found;
}

/** As `Loaded.frame`: what a text has more with it than without. */
export async function frame(ask: Ask, signal: AbortSignal): Promise<TokenFrame> {
  const bare = await tokensOf(ask, "a", false, signal);
  const framed = await tokensOf(ask, "a", true, signal);
  const at = framed.findIndex((_, from) => bare.every((id, i) => framed[from + i] === id));
  if (at < 0) throw brokenAnswer(framed);
  return { before: framed.slice(0, at), after: framed.slice(at + bare.length) };
}

/** Token ids of a text as the engine has it for a prompt: with its frame, and special tokens where they are spelled. */
export function promptTokens(ask: Ask, text: string, signal: AbortSignal): Promise<number[]> {
  return tokensOf(ask, text.toWellFormed(), true, signal, true);
}

/** The special token that is spelled like this; null where the vocabulary has none. */
export async function specialToken(
  ask: Ask,
  spelled: string,
  signal: AbortSignal,
): Promise<number | null> {
  const [only = null, ...more] = await tokensOf(ask, spelled, false, signal, true);
  return more.length === 0 ? only : null;
}

async function tokensOf(
  ask: Ask,
  content: string | readonly (string | number)[],
  framed: boolean,
  signal: AbortSignal,
  isSpecial = false,
): Promise<number[]> {
  const body = { content, add_special: framed, parse_special: isSpecial };
  const answer = await ask("/tokenize", body, signal);
  const tokens = field(answer, "tokens");
  if (!isNumbers(tokens)) throw brokenAnswer(answer);
  return tokens;
}

/** As `Loaded.detokenize`. */
export async function detokenize(
  ask: Ask,
  tokens: readonly number[],
  signal: AbortSignal,
): Promise<string> {
  const answer = await ask("/detokenize", { tokens }, signal);
  const content = field(answer, "content");
  if (typeof content !== "string") throw brokenAnswer(answer);
  return content;
}

/** As `Loaded.embed`. Asks for base64: it is exact, a third of the bytes, and quick to read. */
export async function embed(
  ask: Ask,
  inputs: readonly (readonly number[])[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const body = { input: inputs, encoding_format: "base64" };
  const answer = await ask("/v1/embeddings", body, signal);
  const data = field(answer, "data");
  if (!Array.isArray(data) || data.length !== inputs.length) throw brokenAnswer(answer);
  return data.map((entry: unknown) => {
    const text = field(entry, "embedding");
    if (typeof text !== "string") throw brokenAnswer(answer);
    const bytes = Buffer.from(text, "base64");
    if (bytes.length === 0 || bytes.length % 4 !== 0) throw brokenAnswer(answer);
    // A buffer of its own: what Node decodes into may begin anywhere.
    const vector = new Float32Array(new Uint8Array(bytes).buffer);
    if (!vector.every(Number.isFinite)) throw brokenAnswer(answer);
    return vector;
  });
}

/** As `Loaded.rank`. */
export async function rank(
  ask: Ask,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Ranks> {
  const body = {
    query: query.toWellFormed(),
    documents: texts.map((text) => text.toWellFormed()),
  };
  const answer = await ask("/v1/rerank", body, signal);
  const results = field(answer, "results");
  const tokens = field(field(answer, "usage"), "prompt_tokens");
  if (!Array.isArray(results) || typeof tokens !== "number") throw brokenAnswer(answer);
  const scores: number[] = [];
  for (const result of results) {
    const index = field(result, "index");
    const score = field(result, "relevance_score");
    if (typeof index !== "number" || typeof score !== "number") throw brokenAnswer(answer);
    scores[index] = score;
  }
  const isWhole = texts.every((_, index) => scores[index] !== undefined);
  if (!isWhole || scores.length !== texts.length) throw brokenAnswer(answer);
  return { scores, tokens };
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => typeof one === "number");
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
