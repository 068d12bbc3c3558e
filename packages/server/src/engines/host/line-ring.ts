import { StringDecoder } from "node:string_decoder";

export interface LineLimits {
  /** Most lines kept. */
  lines: number;
  /** Most characters kept, all lines together. */
  characters: number;
  /** Longest line kept; what is longer is cut and marked with an ellipsis. */
  lineCharacters: number;
}

const DEFAULT_LIMITS: LineLimits = { lines: 400, characters: 64 * 1024, lineCharacters: 1024 };

/** The last lines that a program printed, bounded in number and in size. */
export class LineRing {
  readonly #limits: LineLimits;
  #lines: string[] = [];
  #characters = 0;

  constructor(limits: LineLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get lineCharacters(): number {
    return this.#limits.lineCharacters;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (
      this.#lines.length > this.#limits.lines ||
      (this.#characters > this.#limits.characters && this.#lines.length > 1)
    ) {
      this.#characters -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** A copy, oldest first; the newest `count` lines, or all. */
  last(count = this.#limits.lines): string[] {
    return this.#lines.slice(-count);
  }
}

/**
 * Turns the bytes of one output stream into lines. A line that never ends is handed on cut, so a
 * program that prints without line breaks costs no memory.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  readonly #longest: number;
  readonly #onLine: (line: string) => void;
  #rest = "";
  #skipping = false;

  constructor(longest: number, onLine: (line: string) => void) {
    this.#longest = longest;
    this.#onLine = onLine;
  }

  write(bytes: Buffer): void {
    this.#take(this.#decoder.write(bytes));
  }

  /** Hands on what is left without a line break. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#rest !== "" && !this.#skipping) this.#onLine(this.#rest);
    this.#rest = "";
  }

  #take(text: string): void {
    let from = 0;
    for (;;) {
      const at = text.indexOf("\n", from);
      if (at < 0) break;
      this.#line(this.#rest + text.slice(from, at));
      this.#rest = "";
      from = at + 1;
    }
    this.#rest += text.slice(from);
    if (this.#rest.length > this.#longest) {
      if (!this.#skipping) this.#onLine(`${this.#rest.slice(0, this.#longest)}…`);
      this.#skipping = true;
      this.#rest = "";
    }
  }

  #line(line: string): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    const clean = line.endsWith("\r") ? line.slice(0, -1) : line;
    this.#onLine(clean.length > this.#longest ? `${clean.slice(0, this.#longest)}…` : clean);
  }
}
