import { type KeyPath, keyText } from "./key-path.js";

/** A place in a text, counted from 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Where each key of a TOML document (toml.io, 1.0) stands. The TOML parser in use tells values, not
 * places, so this reads the document once more for its keys alone. It expects a document that the
 * parser took; on any other it still ends, with the places found so far.
 */
export class TomlPositions {
  readonly #places = new Map<string, number>();
  readonly #lineStarts: number[] = [0];

  constructor(source: string) {
    for (let i = source.indexOf("\n"); i !== -1; i = source.indexOf("\n", i + 1)) {
      this.#lineStarts.push(i + 1);
    }
    new KeyScanner(source, this.#places).document();
  }

  /** The place of the key, else of the nearest table around it, else null. */
  of(path: KeyPath): Position | null {
    for (let length = path.length; length > 0; length--) {
      const offset = this.#places.get(keyText(path.slice(0, length)));
      if (offset !== undefined) return this.#position(offset);
    }
    return null;
  }

  /** The keys that were found, as `keyText` spells them. */
  keys(): Iterable<string> {
    return this.#places.keys();
  }

  #position(offset: number): Position {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }
}

const BLANK = /[ \t\r\n]*/y;
const BARE = /[^\s=.[\]{},#"']+/y;
/** What ends a number, date or boolean. */
const PLAIN_VALUE = /[^,\]}#\r\n]+/y;

class KeyScanner {
  #at = 0;
  /** How many blocks each list of tables has so far. */
  readonly #blocks = new Map<string, number>();

  constructor(
    private readonly source: string,
    private readonly places: Map<string, number>,
  ) {}

  document(): void {
    let table: KeyPath = [];
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.source.length) return;
      const before = this.#at;
      if (this.source[this.#at] === "[") table = this.#header();
      else this.#pair(table);
      if (this.#at === before) return;
    }
  }

  /** `[a.b]` or `[[a.b]]`; gives the path that the following pairs are under. */
  #header(): KeyPath {
    const isBlock = this.source.startsWith("[[", this.#at);
    this.#at += isBlock ? 2 : 1;
    const names = this.#key();
    let path: (string | number)[] = [];
    for (const [index, { name, offset }] of names.entries()) {
      path = [...path, name];
      const text = keyText(path);
      if (!this.places.has(text)) this.places.set(text, offset);
      const isLast = index === names.length - 1;
      if (isBlock && isLast) {
        const block = this.#blocks.get(text) ?? 0;
        this.#blocks.set(text, block + 1);
        path = [...path, block];
        this.places.set(keyText(path), offset);
      } else if (this.#blocks.has(text)) {
        path = [...path, this.#blocks.get(text)! - 1];
      }
    }
    while (this.source[this.#at] === "]") this.#at++;
    return path;
  }

  /** `a.b = value` under `table`. */
  #pair(table: KeyPath): void {
    let path = table;
    for (const { name, offset } of this.#key()) {
      path = [...path, name];
      const text = keyText(path);
      if (!this.places.has(text)) this.places.set(text, offset);
    }
    if (this.source[this.#at] !== "=") return;
    this.#at++;
    this.#value(path);
  }

  /** The names of a dotted key with the offset of each. */
  #key(): { name: string; offset: number }[] {
    const names: { name: string; offset: number }[] = [];
    for (;;) {
      this.#skipBlank();
      const offset = this.#at;
      const quote = this.source[offset];
      const name = quote === '"' || quote === "'" ? this.#string() : this.#match(BARE);
      if (this.#at === offset) return names;
      names.push({ name, offset });
      this.#skipBlank();
      if (this.source[this.#at] !== ".") return names;
      this.#at++;
    }
  }

  #value(path: KeyPath): void {
    this.#skipBlank();
    switch (this.source[this.#at]) {
      case '"':
      case "'":
        this.#string();
        return;
      case "[":
        this.#list(path);
        return;
      case "{":
        this.#inlineTable(path);
        return;
      default:
        this.#match(PLAIN_VALUE);
    }
  }

  #list(path: KeyPath): void {
    this.#at++;
    for (let index = 0; ; index++) {
      this.#skipBlank();
      if (this.#closes("]")) return;
      const before = this.#at;
      const item = [...path, index];
      this.places.set(keyText(item), before);
      this.#value(item);
      this.#skipBlank();
      if (this.source[this.#at] === ",") this.#at++;
      if (this.#at === before) return;
    }
  }

  #inlineTable(path: KeyPath): void {
    this.#at++;
    for (;;) {
      this.#skipBlank();
      if (this.#closes("}")) return;
      const before = this.#at;
      this.#pair(path);
      this.#skipBlank();
      if (this.source[this.#at] === ",") this.#at++;
      if (this.#at === before) return;
    }
  }

  /** Passes over the closing sign, or tells that the document is over. */
  #closes(sign: string): boolean {
    if (this.source[this.#at] === sign) {
      this.#at++;
      return true;
    }
    return this.#at >= this.source.length;
  }

  /** A string of any of the four kinds; gives what a one-line string stands for. */
  #string(): string {
    const quote = this.source[this.#at]!;
    const fence = this.source.startsWith(quote.repeat(3), this.#at) ? quote.repeat(3) : quote;
    const start = this.#at + fence.length;
    let end = start;
    while (end < this.source.length && !this.source.startsWith(fence, end)) {
      end += quote === '"' && this.source[end] === "\\" ? 2 : 1;
    }
    const text = this.source.slice(start, end);
    this.#at = end + fence.length;
    // Up to two quotes may stand right before the closing three.
    while (fence.length === 3 && this.source[this.#at] === quote) this.#at++;
    return quote === '"' ? unescapeBasic(text) : text;
  }

  #skipBlank(): void {
    for (;;) {
      this.#match(BLANK);
      if (this.source[this.#at] !== "#") return;
      const end = this.source.indexOf("\n", this.#at);
      this.#at = end === -1 ? this.source.length : end;
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.source)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
};

/** The escapes of a basic string resolved (toml.io, "String"). */
function unescapeBasic(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([\s\S]))/g,
    (_, short?: string, long?: string, byte?: string, single?: string) => {
      const code = short ?? long ?? byte;
      if (code === undefined) return ESCAPES[single!] ?? single!;
      const point = Number.parseInt(code, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : "";
    },
  );
}
