import type { EmbeddingInput } from "../formats/openai-embeddings/index.js";
import { SomnusError } from "../http/index.js";
import type { Lease } from "../scheduling/index.js";

type TokenFrame = Awaited<ReturnType<Lease["frame"]>>;

/** More special tokens than any model has around a text. */
const FRAME_BOUND = 8;

/** Tokens that an input has at most: each stands for a byte or more. */
export function tokenBound(input: { text: string } | { tokens: readonly number[] }): number {
  const own = "text" in input ? Buffer.byteLength(input.text) : input.tokens.length;
  return own + FRAME_BOUND;
}

/**
 * The inputs as token ids with the model's special tokens around them, which ids that were sent may have or not.
 * @param longest most tokens that the model takes of one input, its frame included
 * @throws SomnusError context_length_exceeded with the count, unless inputs that are too long are to be cut
 */
export async function framedTokens(
  lease: Pick<Lease, "tokenize" | "frame">,
  inputs: readonly EmbeddingInput[],
  { model, longest, truncate }: { model: string; longest: number; truncate: boolean },
  signal: AbortSignal,
): Promise<number[][]> {
  const frame = await lease.frame(signal);
  const texts = inputs.flatMap((input) => ("text" in input ? [input.text] : []));
  const found = texts.length === 0 ? [] : await lease.tokenize(texts, signal);
  let next = 0;
  return inputs.map((input) => {
    const bare = "text" in input ? found[next++]! : unframed(input.tokens, frame);
    const room = longest - frame.before.length - frame.after.length;
    if (bare.length > room && !truncate) {
      throw tooLong(input.param, model, bare.length + longest - room, longest);
    }
    return [...frame.before, ...bare.slice(0, room), ...frame.after];
  });
}

/** The error for an input of so many tokens, its frame included. */
function tooLong(param: string, model: string, tokens: number, longest: number): SomnusError {
  return new SomnusError(
    "context_length_exceeded",
    `${param} has ${tokens} tokens, and ${model} takes ${longest} at most. Shorten it, or send truncate: true to have it cut.`,
    { param },
  );
}

function unframed(tokens: readonly number[], { before, after }: TokenFrame): readonly number[] {
  const from = before.every((id, at) => tokens[at] === id) ? before.length : 0;
  const end = tokens.length - after.length;
  const isEnded = end >= from && after.every((id, at) => tokens[end + at] === id);
  return tokens.slice(from, isEnded ? end : undefined);
}

/** Runs of inputs, in their order, that together have `most` tokens at most, or are one input that has more. */
export function roundsOf(lengths: readonly number[], most: number): { from: number; to: number }[] {
  const rounds: { from: number; to: number }[] = [];
  let from = 0;
  let total = 0;
  for (const [at, length] of lengths.entries()) {
    if (at > from && total + length > most) {
      rounds.push({ from, to: at });
      from = at;
      total = 0;
    }
    total += length;
  }
  if (lengths.length > 0) rounds.push({ from, to: lengths.length });
  return rounds;
}
