import type { TokenLogprob } from "@somnus/contract";
import type { GenerationEvent } from "../../formats/index.js";

type TextEvent = Extract<GenerationEvent, { type: "text" }>;

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Takes the thoughts out of an answer that begins with them in marks, for an engine that left them there: it
 * knows only the marks of a model's own template. `over`: nothing more is to be looked for.
 */
export class LeadingThoughts {
  over = false;
  #inside = false;
  /** The thoughts are over, and white space may still follow them. */
  #after = false;
  /** Held back: what may become a mark. */
  #held = "";
  readonly #logprobs: TokenLogprob[] = [];

  /** A piece of the answer. @returns what it turned out to be; nothing while it is held back */
  feed(event: TextEvent): GenerationEvent[] {
    const { choice } = event;
    if (this.#after) return this.#answer(event, choice);
    const text = this.#held + event.text;
    if (!this.#inside) {
      const begun = text.trimStart();
      if (!begun.startsWith(OPEN)) {
        this.#logprobs.push(...(event.logprobs ?? []));
        if (OPEN.startsWith(begun)) {
          this.#held = text;
          return [];
        }
        this.over = true;
        this.#held = "";
        return [this.#text(text, choice)];
      }
      this.#inside = true;
      return this.#thoughts(begun.slice(OPEN.length), choice);
    }
    return this.#thoughts(text, choice);
  }

  /** The answer is over: what was held back. */
  end(choice: number): GenerationEvent[] {
    const text = this.#held;
    this.#held = "";
    if (text === "" && this.#logprobs.length === 0) return [];
    return this.#inside ? reasoning(text, choice) : [this.#text(text, choice)];
  }

  #text(text: string, choice: number): TextEvent {
    const logprobs = this.#logprobs.splice(0);
    return { type: "text", choice, text, ...(logprobs.length > 0 ? { logprobs } : {}) };
  }

  #thoughts(text: string, choice: number): GenerationEvent[] {
    const at = text.indexOf(CLOSE);
    if (at >= 0) {
      this.#after = true;
      this.#held = "";
      const rest = this.#answer({ text: text.slice(at + CLOSE.length) }, choice);
      return [...reasoning(text.slice(0, at), choice), ...rest];
    }
    const kept = lengthOfBegunMark(text);
    this.#held = text.slice(text.length - kept);
    return reasoning(text.slice(0, text.length - kept), choice);
  }

  #answer(piece: Pick<TextEvent, "text" | "logprobs">, choice: number): GenerationEvent[] {
    const text = piece.text.trimStart();
    if (text === "") return [];
    this.over = true;
    return [{ ...piece, type: "text", choice, text }];
  }
}

function reasoning(text: string, choice: number): GenerationEvent[] {
  return text === "" ? [] : [{ type: "reasoning", choice, text }];
}

/** Characters at the end of a text that may be the begin of the closing mark. */
function lengthOfBegunMark(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) {
    if (CLOSE.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
