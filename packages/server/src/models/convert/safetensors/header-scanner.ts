import type { Refuse } from "../refusal.js";

/**
 * Reads JSON of a known shape token by token. A general parser would build whatever the file asks
 * for, and would not tell of a key that stands there twice.
 */
export class HeaderScanner {
  readonly #text: string;
  readonly #refuse: Refuse;
  #at = 0;

  constructor(text: string, refuse: Refuse) {
    this.#text = text;
    this.#refuse = refuse;
  }

  /** Reads an object; `onEntry` must read the value of the key that it is given. */
  object(onEntry: (key: string) => void): void {
    this.#take("{");
    if (this.#takeIf("}")) return;
    const seen = new Set<string>();
    do {
      const key = this.string();
      if (seen.has(key)) throw this.#refuse(`names ${JSON.stringify(key.slice(0, 80))} twice`);
      seen.add(key);
      this.#take(":");
      onEntry(key);
    } while (this.#takeIf(","));
    this.#take("}");
  }

  /** Reads a list of whole numbers from 0, at most `most` of them. */
  counts(most: number): number[] {
    const counts: number[] = [];
    this.#take("[");
    if (this.#takeIf("]")) return counts;
    do {
      if (counts.length === most) throw this.#damaged(`a list of more than ${most} numbers`);
      counts.push(this.#count());
    } while (this.#takeIf(","));
    this.#take("]");
    return counts;
  }

  string(): string {
    this.#skipSpace();
    const start = this.#at;
    if (this.#text[start] !== '"') throw this.#damaged("no text where one must be");
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') {
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch (error) {
      throw this.#damaged("a broken text", error);
    }
  }

  /** Only the spaces that fill the header up may follow. */
  end(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#damaged("something behind its end");
  }

  #count(): number {
    this.#skipSpace();
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.#text)?.[0];
    const value = Number(digits);
    if (digits === undefined || !Number.isSafeInteger(value)) {
      throw this.#damaged("a number that is not a whole one in range");
    }
    this.#at += digits.length;
    return value;
  }

  #take(char: string): void {
    if (!this.#takeIf(char)) throw this.#damaged(`no ${char} where one must be`);
  }

  #takeIf(char: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    while (SPACE.has(this.#text[this.#at] ?? "")) this.#at++;
  }

  #damaged(what: string, cause?: unknown): Error {
    return this.#refuse(`has a damaged header: ${what} (character ${this.#at})`, cause);
  }
}

const SPACE: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r"]);
/** No sign, fraction, exponent or leading zero; longer ones cannot be exact. */
const NUMBER = /(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/y;
