import type { GenerationEvent } from "../../formats/index.js";

type TextEvent = Extract<GenerationEvent, { type: "text" }>;

/**
 * Ends an answer at the first of some strings, however it is split over pieces. What may become one of them is held
 * back, with the log probabilities of its tokens: the engine's own search loses those, and in raw completions the
 * text that it still holds at the end.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  /** Characters that may be the begin of one. */
  readonly #mostHeld: number;
  /** Held back, in its order; together no more than the begin of a stop string. */
  #held: TextEvent[] = [];

  /** @param stops one or more, none of them empty */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
    this.#mostHeld = Math.max(...stops.map((stop) => stop.length - 1));
  }

  /** The next piece. @returns what can go on, and the string that ended the answer */
  feed(piece: TextEvent): { text: TextEvent | null; stop: string | null } {
    this.#held.push(piece);
    const text = this.#held.map((held) => held.text).join("");
    const found = this.#first(text);
    if (found === null) return { text: this.#release(this.#safeLength(text)), stop: null };
    const before = this.#release(found.at);
    this.#held = [];
    return { text: before, stop: found.stop };
  }

  /** The answer has ended by itself: what was held back. */
  end(): TextEvent | null {
    return this.#release(Number.POSITIVE_INFINITY);
  }

  /** The one that is complete first; of several that are at once, the longest. */
  #first(text: string): { at: number; stop: string } | null {
    let first: { at: number; stop: string } | null = null;
    for (const stop of this.#stops) {
      const at = text.indexOf(stop);
      if (at < 0) continue;
      const later = first === null ? -1 : at + stop.length - (first.at + first.stop.length);
      if (later < 0 || (later === 0 && at < first!.at)) first = { at, stop };
    }
    return first;
  }

  /** Characters before what may become a stop string. */
  #safeLength(text: string): number {
    for (let at = Math.max(0, text.length - this.#mostHeld); at < text.length; at++) {
      const rest = text.slice(at);
      if (this.#stops.some((stop) => stop.startsWith(rest))) return at;
    }
    return text.length;
  }

  /** Takes so many characters out; the log probabilities of a piece go with its first character. */
  #release(characters: number): TextEvent | null {
    let left = characters;
    let text = "";
    const logprobs: NonNullable<TextEvent["logprobs"]> = [];
    const kept: TextEvent[] = [];
    for (const piece of this.#held) {
      const goes = kept.length === 0 && (left > 0 || piece.text === "");
      if (!goes) {
        kept.push(piece);
        continue;
      }
      logprobs.push(...(piece.logprobs ?? []));
      text += piece.text.slice(0, left);
      const rest = piece.text.slice(left);
      left = Math.max(0, left - piece.text.length);
      if (rest !== "") kept.push({ type: "text", choice: piece.choice, text: rest });
    }
    const choice = this.#held[0]?.choice ?? 0;
    this.#held = kept;
    if (text === "" && logprobs.length === 0) return null;
    return { type: "text", choice, text, ...(logprobs.length > 0 ? { logprobs } : {}) };
  }
}
