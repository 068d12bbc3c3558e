import type { CompletionLogprobs, TokenLogprob } from "@somnus/contract";

/** Writes log probabilities as lists, each token with its place in the whole text of its choice. */
export class TokenLists {
  #offset = 0;

  /** @param top likely tokens to show in each place; the one that was chosen is shown as well */
  constructor(private readonly top: number) {}

  /** The next tokens of the choice. */
  write(tokens: readonly TokenLogprob[]): CompletionLogprobs {
    const lists: CompletionLogprobs = {
      tokens: [],
      token_logprobs: [],
      top_logprobs: [],
      text_offset: [],
    };
    for (const { token, logprob, top_logprobs: likely } of tokens) {
      lists.tokens.push(token);
      lists.token_logprobs.push(logprob);
      lists.text_offset.push(this.#offset);
      lists.top_logprobs.push(
        // Made of entries: a token may be called like something that every object has.
        Object.fromEntries([
          [token, logprob],
          ...likely.slice(0, this.top).map((one) => [one.token, one.logprob] as const),
        ]),
      );
      this.#offset += codePoints(token);
    }
    return lists;
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
