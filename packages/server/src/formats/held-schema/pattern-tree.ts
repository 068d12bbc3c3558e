import {
  ANY_CHARACTER,
  type Characters,
  CLASSES,
  characters,
  complement,
  type Range,
} from "./characters.js";

/** What a regular expression matches, as a tree; it matches a text as a whole. */
export type PatternTree =
  | { kind: "one of"; characters: Characters }
  | { kind: "sequence"; parts: readonly PatternTree[] }
  | { kind: "choice"; options: readonly PatternTree[] }
  | { kind: "repeat"; of: PatternTree; min: number; max: number };

/** A regular expression has what no grammar can follow. The message is the end of a sentence about it. */
export class PatternFault extends Error {
  override readonly name = "PatternFault";
}

/** Deeper groups than these are nobody's pattern. */
const DEEPEST_GROUP = 50;

/** Any text. */
export const ANYTHING: PatternTree = {
  kind: "repeat",
  of: { kind: "one of", characters: ANY_CHARACTER },
  min: 0,
  max: Number.POSITIVE_INFINITY,
};

/**
 * Reads a regular expression of ECMAScript, valid as such. Where it is not anchored, it matches any text that
 * contains a match, as JSON Schema has it.
 * @throws PatternFault at what looks around or back
 */
export function patternTree(pattern: string): PatternTree {
  return new PatternReader(pattern).read();
}

class PatternReader {
  readonly #letters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#letters = [...pattern];
  }

  read(): PatternTree {
    const options: PatternTree[] = [];
    do {
      const anchored = this.#take("^");
      const parts = this.#parts();
      const ended = this.#take("$");
      if (!this.#isOver() && this.#peek() !== "|") {
        throw new PatternFault("has ^, $ or a bracket in its middle");
      }
      options.push({
        kind: "sequence",
        parts: [...(anchored ? [] : [ANYTHING]), ...parts, ...(ended ? [] : [ANYTHING])],
      });
    } while (this.#take("|"));
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #parts(): PatternTree[] {
    const parts: PatternTree[] = [];
    while (!this.#isOver() && !"|)$".includes(this.#peek()!)) {
      const atom = this.#atom();
      parts.push(this.#repeated(atom));
    }
    return parts;
  }

  #atom(): PatternTree {
    const letter = this.#next();
    switch (letter) {
      case "(":
        return this.#group();
      case "[":
        return { kind: "one of", characters: this.#class() };
      case ".":
        return { kind: "one of", characters: CLASSES["."]! };
      case "^":
        throw new PatternFault("has ^ in its middle");
      case "\\":
        return { kind: "one of", characters: this.#escape(false) };
      default:
        return { kind: "one of", characters: single(letter) };
    }
  }

  #group(): PatternTree {
    if (++this.#depth > DEEPEST_GROUP) throw new PatternFault("has too many groups in each other");
    if (this.#take("?") && !this.#take(":")) {
      const isNamed = this.#take("<") && !["=", "!"].includes(this.#peek() ?? "");
      if (!isNamed) throw new PatternFault("looks ahead or behind");
      while (!this.#take(">")) this.#next();
    }
    const options: PatternTree[] = [];
    do {
      options.push({ kind: "sequence", parts: this.#parts() });
    } while (this.#take("|"));
    if (!this.#take(")")) throw new PatternFault("has $ in a group");
    this.#depth--;
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #repeated(of: PatternTree): PatternTree {
    const times = this.#times();
    if (times === null) return of;
    // How greedy it is does not change what it matches.
    this.#take("?");
    return { kind: "repeat", of, ...times };
  }

  #times(): { min: number; max: number } | null {
    const most = Number.POSITIVE_INFINITY;
    if (this.#take("*")) return { min: 0, max: most };
    if (this.#take("+")) return { min: 1, max: most };
    if (this.#take("?")) return { min: 0, max: 1 };
    const rest = this.#letters.slice(this.#at, this.#at + 24).join("");
    const [all, min, comma, max] = /^\{(\d+)(,?)(\d*)\}/.exec(rest) ?? [];
    if (all === undefined) return null;
    this.#at += all.length;
    return { min: Number(min), max: max ? Number(max) : comma ? most : Number(min) };
  }

  #class(): Characters {
    const isOthers = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const first = this.#member();
      if (first.length !== 1 || first[0]![0] !== first[0]![1] || this.#peek() !== "-") {
        ranges.push(...first);
        continue;
      }
      this.#next();
      if (this.#peek() === "]") {
        ranges.push(...first, ...single("-"));
        continue;
      }
      const last = this.#member();
      if (last.length === 1 && last[0]![0] === last[0]![1])
        ranges.push([first[0]![0], last[0]![0]]);
      else ranges.push(...first, ...single("-"), ...last);
    }
    const set = characters(ranges);
    return isOthers ? complement(set) : set;
  }

  #member(): Characters {
    const letter = this.#next();
    return letter === "\\" ? this.#escape(true) : single(letter);
  }

  #escape(inClass: boolean): Characters {
    const letter = this.#next();
    const known = CLASSES[letter];
    if (known && letter !== ".") return known;
    if (letter === "b" && inClass) return single("\b");
    if (/[bBk1-9pPc]/.test(letter)) throw new PatternFault(`has \\${letter}`);
    if (letter === "x") return this.#code(2);
    if (letter === "u") return this.#unicode();
    const control = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v", "0": "\0" }[letter];
    return single(control ?? letter);
  }

  #unicode(): Characters {
    if (!this.#take("{")) {
      const [[first]] = this.#code(4) as [Range];
      const low = this.#letters.slice(this.#at, this.#at + 6).join("");
      if (first < 0xd800 || first > 0xdbff || !/^\\u[dD][c-fC-F][0-9a-fA-F]{2}$/.test(low)) {
        return [[first, first]];
      }
      this.#at += 6;
      const code =
        0x10000 + ((first - 0xd800) << 10) + (Number.parseInt(low.slice(2), 16) - 0xdc00);
      return [[code, code]];
    }
    let digits = "";
    while (!this.#take("}")) digits += this.#next();
    const code = Number.parseInt(digits, 16);
    return [[code, code]];
  }

  #code(length: number): Characters {
    const digits = this.#letters.slice(this.#at, this.#at + length).join("");
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length < length) {
      throw new PatternFault("has an escape that is none");
    }
    this.#at += length;
    const code = Number.parseInt(digits, 16);
    return [[code, code]];
  }

  #isOver(): boolean {
    return this.#at >= this.#letters.length;
  }

  #peek(): string | undefined {
    return this.#letters[this.#at];
  }

  #next(): string {
    const letter = this.#letters[this.#at++];
    if (letter === undefined) throw new PatternFault("ends too early");
    return letter;
  }

  #take(letter: string): boolean {
    if (this.#letters[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }
}

function single(letter: string): Characters {
  const code = letter.codePointAt(0)!;
  return [[code, code]];
}
