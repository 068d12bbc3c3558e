import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonTextPattern } from "./json-text-pattern.js";
import { PatternFault, patternTree } from "./pattern-tree.js";
import { lengthsOf, withLengths } from "./text-lengths.js";

/** What an engine makes of a pattern, as a regular expression about the JSON of a text. */
function engineRegExp(pattern: string): RegExp {
  return new RegExp(
    pattern.replace(/\\U0*([0-9A-F]+)/g, "\\u{$1}").replace(/u00([0-9a-f]{2})/g, "u00$1"),
    "u",
  );
}

/** The text between the quotes of its JSON. */
const jsonText = (text: string) => JSON.stringify(text).slice(1, -1);

const PATTERNS = [
  "^[a-z]+$",
  "[0-9]{3}",
  "^a.c$",
  "^(foo|bar)?baz*$",
  "^\\d{1,3}(,\\d{3})*$",
  '^"\\\\n"$',
  "^[^a]$",
  "a|^b|c$",
  "^\\w+@\\w+\\.com$",
  "^\\u00e4\\x41[\\-\\]^]$",
  "^(?:a|b(?<name>c))+?$",
  "\\s",
  "^[\\s\\S]{2,4}$",
  "^\\ud83d\\ude00+$",
  "^$",
  "^\\/\\$\\^$",
];

describe("a pattern for engines", () => {
  it.each(PATTERNS)("%s matches the JSON of what it matches, and nothing else", (pattern) => {
    const theirs = new RegExp(pattern, "u");
    const engines = engineRegExp(jsonTextPattern(patternTree(pattern)));
    const near = fc.oneof(
      fc.stringMatching(theirs),
      fc
        .array(fc.constantFrom(...'abcz012 ,.@"\\\n^$-]ä😀A/x'), { maxLength: 5 })
        .map((all) => all.join("")),
    );
    fc.assert(
      fc.property(near, (text) => {
        fc.pre(text.isWellFormed());
        // Control characters without a letter are left out where others will do.
        fc.pre(!jsonText(text).includes("\\u00"));
        expect(engines.test(jsonText(text))).toBe(theirs.test(text));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["^(?=a)b$", "looks ahead"],
    ["^(?<!a)b$", "looks ahead"],
    ["^(a)\\1$", "\\1"],
    ["\\bword\\b", "\\b"],
    ["^\\p{L}+$", "\\p"],
    ["a^b", "^"],
    ["(a$)b", "$"],
  ])("is not made of %s", (pattern, why) => {
    expect(() => jsonTextPattern(patternTree(pattern))).toThrow(PatternFault);
    expect(() => jsonTextPattern(patternTree(pattern))).toThrow(why);
  });

  it("is not made of what repeats something too often", () => {
    expect(() => jsonTextPattern(patternTree("^a{1001}$"))).toThrow(/1000 times/);
  });

  it.each<[string, number, number]>([
    ["^[a-z]+$", 3, 5],
    ["^[A-Z][a-z0-9_]*$", 2, 8],
    ["[0-9]", 4, 6],
    ["^a*b*$", 2, 3],
  ])("%s is given lengths of %d to %d", (pattern, min, max) => {
    const tree = withLengths(patternTree(pattern), { min, max });
    const own = lengthsOf(tree);
    expect(own.min).toBeGreaterThanOrEqual(min);
    expect(own.max).toBeLessThanOrEqual(max);
    const engines = engineRegExp(jsonTextPattern(tree));
    fc.assert(
      fc.property(fc.stringMatching(engines), (json) => {
        const text = JSON.parse(`"${json}"`) as string;
        expect(new RegExp(pattern).test(text)).toBe(true);
        expect([...text].length).toBeGreaterThanOrEqual(min);
        expect([...text].length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 200 },
    );
  });
});
