import { expect, test } from "vitest";
import { cut, displayWidth, printable, tableLines, wrap } from "./layout.js";

test("wide characters take two columns, marks none", () => {
  expect(displayWidth("abc")).toBe(3);
  expect(displayWidth("日本")).toBe(4);
  expect(displayWidth("e\u0301")).toBe(1);
});

test("a cut text has the width asked for and shows that it is cut", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(displayWidth(cut("日本語", 4))).toBeLessThanOrEqual(4);
});

test("columns are aligned, and only flexible ones give way", () => {
  const columns = [
    { title: "ID" },
    { title: "SIZE", right: true },
    { title: "TEXT", flexible: true },
  ];
  const rows = [
    ["a", "1 MB", "short"],
    ["longer", "491 MB", "a text that is too long for the line"],
  ];
  expect(tableLines(columns, rows, Number.POSITIVE_INFINITY)).toEqual([
    "ID        SIZE  TEXT",
    "a         1 MB  short",
    "longer  491 MB  a text that is too long for the line",
  ]);
  const narrow = tableLines(columns, rows, 30);
  expect(narrow[2]).toBe("longer  491 MB  a text that i…");
});

test("text is wrapped at spaces", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("unbreakable", 4)).toEqual(["unbreakable"]);
});

test("what would steer the terminal is taken out", () => {
  expect(printable("a\u001b[2Jb\r\nc\td\u009bx\u0007")).toBe("a[2Jb\nc\tdx");
});
