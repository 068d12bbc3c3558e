import { WholeAnswer } from "./whole-answer.js";
import { readWrittenCall, type WrittenCall } from "./written-call.js";

/** What a text turns out to be, in the order in which it was written. */
export type Found<Piece> = { piece: Piece } | { call: WrittenCall };

/** Tags around a call, of several model families. */
const TAGS = ["tool_call", "tools", "function_call"];
const OPENING = TAGS.map((tag) => `<${tag}>`);

/**
 * Reads the calls that a model writes as text where its engine did not know them: in tags, at any place, or
 * as an answer that is nothing else but calls as JSON. What may still become a call is held back, everything
 * else goes on at once.
 */
export class FreeText<Piece extends { text: string }> {
  readonly #offered: ReadonlySet<string>;
  readonly #split: (piece: Piece, at: number) => [Piece, Piece];
  readonly #whole: WholeAnswer;
  /** Held back, in its order. */
  readonly #held: Piece[] = [];
  #text = "";
  #state: "whole" | "text" | "tag" = "whole";
  #closing = "";
  /** Characters of the open tag that were searched for its end. */
  #searched = 0;

  /**
   * @param offered names of the functions on offer
   * @param split cuts a piece in two at a character
   */
  constructor(offered: ReadonlySet<string>, split: (piece: Piece, at: number) => [Piece, Piece]) {
    this.#offered = offered;
    this.#split = split;
    this.#whole = new WholeAnswer(offered);
  }

  /** The next piece of the answer. */
  feed(piece: Piece): Found<Piece>[] {
    this.#held.push(piece);
    this.#text += piece.text;
    const found: Found<Piece>[] = [];
    if (this.#state === "whole") {
      if (this.#whole.feed(piece.text)) return found;
      this.#state = "text";
    }
    while (this.#text !== "" && this.#step(found));
    return found;
  }

  /**
   * The answer is over.
   * @param cut whether it was cut by its limit
   * @returns what was held back, and whether half a call was left out
   */
  end(cut: boolean): { found: Found<Piece>[]; half: boolean } {
    const found: Found<Piece>[] = [];
    if (this.#state === "whole") {
      const { whole, half } = this.#whole.calls;
      if (half ? cut : whole.length > 0) return { found: whole.map((call) => ({ call })), half };
    } else if (this.#state === "tag") {
      const call = readWrittenCall(this.#text.slice(this.#closing.length - 1), this.#offered);
      if (call) return { found: [{ call }], half: false };
      if (cut) return { found, half: true };
    }
    this.#release(this.#text.length, found);
    return { found, half: false };
  }

  /** Takes one step; false when it needs more text. */
  #step(found: Found<Piece>[]): boolean {
    if (this.#state === "text") {
      const [at, tag] = nextTag(this.#text);
      this.#release(at, found);
      if (tag === null) return false;
      this.#state = "tag";
      this.#closing = `</${tag}>`;
      this.#searched = 0;
      return true;
    }
    const end = this.#text.indexOf(this.#closing, this.#searched);
    this.#searched = Math.max(0, this.#text.length - this.#closing.length);
    if (end < 0) return false;
    const call = readWrittenCall(this.#text.slice(this.#closing.length - 1, end), this.#offered);
    this.#release(end + this.#closing.length, call ? [] : found);
    if (call) found.push({ call });
    this.#state = "text";
    return true;
  }

  /** Hands on so many characters of what is held back. */
  #release(characters: number, found: Found<Piece>[]): void {
    let left = characters;
    for (let first = this.#held[0]; first && first.text.length <= left; first = this.#held[0]) {
      left -= first.text.length;
      found.push({ piece: first });
      this.#held.shift();
    }
    if (left > 0) {
      const [now, later] = this.#split(this.#held[0]!, left);
      found.push({ piece: now });
      this.#held[0] = later;
    }
    this.#text = this.#text.slice(characters);
  }
}

/** Where the next tag begins, or what may become one; its name once it is whole. */
function nextTag(text: string): [at: number, tag: string | null] {
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    const rest = text.slice(at);
    const whole = OPENING.findIndex((tag) => rest.startsWith(tag));
    if (whole >= 0) return [at, TAGS[whole]!];
    if (OPENING.some((tag) => tag.startsWith(rest))) return [at, null];
  }
  return [text.length, null];
}
