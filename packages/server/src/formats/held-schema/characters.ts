/** Code points from the first to the last. */
export type Range = readonly [first: number, last: number];
/** A set of characters: ranges in their order that do not touch. */
export type Characters = readonly Range[];

const LAST = 0x10ffff;

/** A set of any ranges. */
export function characters(ranges: readonly Range[]): Characters {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const set: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = set.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else set.push([first, last]);
  }
  return set;
}

/** All other characters. */
export function complement(set: Characters): Characters {
  const others: Range[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) others.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST) others.push([next, LAST]);
  return others;
}

/** The characters that are in both. */
export function intersection(a: Characters, b: Characters): Characters {
  return complement(characters([...complement(a), ...complement(b)]));
}

/** Whether a character is in a set. */
export function has(set: Characters, code: number): boolean {
  return set.some(([first, last]) => code >= first && code <= last);
}

const range = (text: string): Range => [text.codePointAt(0)!, text.codePointAt(text.length - 1)!];

/** What the classes of regular expressions stand for. */
export const CLASSES: Readonly<Record<string, Characters>> = (() => {
  const digits = characters([range("09")]);
  const words = characters([range("09"), range("AZ"), range("az"), range("__")]);
  const spaces = characters(
    [9, 10, 11, 12, 13, 32, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff]
      .map((code): Range => [code, code])
      .concat([[0x2000, 0x200a]]),
  );
  return {
    d: digits,
    D: complement(digits),
    w: words,
    W: complement(words),
    s: spaces,
    S: complement(spaces),
    ".": complement(characters([range("\n\n"), range("\r\r"), [0x2028, 0x2029]])),
  };
})();

/** Every character. */
export const ANY_CHARACTER: Characters = [[0, LAST]];
