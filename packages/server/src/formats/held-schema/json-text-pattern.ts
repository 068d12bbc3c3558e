import { type Characters, characters, complement, has, intersection } from "./characters.js";
import { PatternFault, type PatternTree } from "./pattern-tree.js";

/** What may stand in a JSON text as it is; no surrogates: there are none in UTF-8. */
const PLAIN = complement(
  characters([
    [0, 0x1f],
    [0x22, 0x22],
    [0x5c, 0x5c],
    [0xd800, 0xdfff],
  ]),
);
/** The other characters that have a short escape. */
const ESCAPES: readonly (readonly [code: number, letter: string])[] = [
  [0x22, '"'],
  [0x5c, "\\"],
  [0x08, "b"],
  [0x09, "t"],
  [0x0a, "n"],
  [0x0c, "f"],
  [0x0d, "r"],
];
/** What is repeated more often makes a grammar that engines refuse. */
export const MOST_TIMES = 1000;

/**
 * A pattern for the text between the quotes of a JSON string, in the small language that engines know: sets of
 * characters, groups, choices and repeats between ^ and $. Theirs is about the JSON, where a quote, a
 * backslash and control characters are escapes.
 * @throws PatternFault when nothing can match it, or it repeats something too often
 */
export function jsonTextPattern(tree: PatternTree): string {
  return `^${write(tree)}$`;
}

function write(tree: PatternTree): string {
  switch (tree.kind) {
    case "one of":
      return writeCharacter(tree.characters);
    case "sequence":
      return tree.parts.map(write).join("");
    case "choice":
      return `(${tree.options.map(write).join("|")})`;
    case "repeat":
      return writeRepeat(tree);
  }
}

function writeRepeat({ of, min, max }: Extract<PatternTree, { kind: "repeat" }>): string {
  if (max === 0) return "";
  if (min > MOST_TIMES || (max > MOST_TIMES && max !== Number.POSITIVE_INFINITY)) {
    throw new PatternFault(`repeats something more than ${MOST_TIMES} times`);
  }
  const inner = write(of);
  if (inner === "") return "";
  const atom = /^\[[^\]]*\]$/.test(inner) ? inner : `(${inner})`;
  if (min === 1 && max === 1) return atom;
  if (max === Number.POSITIVE_INFINITY) {
    return atom + (min === 0 ? "*" : min === 1 ? "+" : `{${min},}`);
  }
  return atom + (min === 0 && max === 1 ? "?" : `{${min},${max}}`);
}

function writeCharacter(set: Characters): string {
  const options: string[] = [];
  const plain = intersection(set, PLAIN);
  if (plain.length > 0) options.push(`[${plain.map(writeRange).join("")}]`);
  const letters = ESCAPES.filter(([code]) => has(set, code)).map(([, letter]) => letter);
  const escaped = letters.map((letter) => spell(letter.charCodeAt(0))).join("");
  if (escaped !== "") options.push(`[\\u005C][${escaped}]`);
  // Control characters without a letter: only where nothing else is left.
  if (options.length === 0) {
    for (let code = 0; code < 0x20; code++) {
      if (has(set, code)) options.push(`[\\u005C]u00${code.toString(16).padStart(2, "0")}`);
    }
  }
  if (options.length === 0) throw new PatternFault("can never match");
  return options.length === 1 && plain.length > 0 ? options[0]! : `(${options.join("|")})`;
}

function writeRange([first, last]: Characters[number]): string {
  return first === last ? spell(first) : `${spell(first)}-${spell(last)}`;
}

/** Letters and digits as they are; the rest by its number, so that nothing has a meaning of its own. */
function spell(code: number): string {
  const letter = String.fromCodePoint(code);
  if (/^[A-Za-z0-9]$/.test(letter)) return letter;
  const digits = code.toString(16).toUpperCase();
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}
