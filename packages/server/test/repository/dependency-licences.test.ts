import { expect, test } from "vitest";
import { type Lock, lock, script } from "./checkout.js";

interface Notices {
  productionPackages(lock: Lock): { name: string; version: string; licence: string }[];
}
const { productionPackages } = await script<Notices>("notices.mjs");

const PERMISSIVE = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/**
 * Codecs of images and sounds under the LGPL: they are used as they come, in packages and files of their own, which
 * anybody can replace.
 */
const SEPARATE_LIBRARIES = /^(@img\/sharp-.+|libheif-js|codec-parser)$/;
const LGPL = new Set(["LGPL-3.0", "LGPL-3.0-or-later"]);

/** Whether an SPDX expression can be met with permissive licences alone; unknown words cannot. */
function isPermissive(expression: string, further: ReadonlySet<string> = new Set()): boolean {
  const words = expression
    .replace(/[()]/g, " ")
    .trim()
    .split(/\s+(?:OR)\s+/);
  return words.some((choice) =>
    choice
      .split(/\s+AND\s+/)
      .every((name) => PERMISSIVE.has(name.trim()) || further.has(name.trim())),
  );
}

test("every production dependency has a permissive licence, or is a library of its own", () => {
  const packages = productionPackages(lock);
  expect(packages.length).toBeGreaterThan(0);
  const others = packages.filter(
    ({ name, licence }) => !isPermissive(licence, SEPARATE_LIBRARIES.test(name) ? LGPL : undefined),
  );
  expect(others).toEqual([]);
});

test("copyleft and unknown licences are told from permissive ones", () => {
  expect(isPermissive("MIT")).toBe(true);
  expect(isPermissive("(MIT OR GPL-3.0)")).toBe(true);
  expect(isPermissive("MIT AND Apache-2.0")).toBe(true);
  expect(isPermissive("MIT AND GPL-3.0")).toBe(false);
  expect(isPermissive("LGPL-3.0")).toBe(false);
  expect(isPermissive("Apache-2.0 AND LGPL-3.0", LGPL)).toBe(true);
  expect(isPermissive("GPL-3.0", LGPL)).toBe(false);
  expect(isPermissive("AGPL-3.0-only")).toBe(false);
  expect(isPermissive("SEE LICENSE IN x")).toBe(false);
  expect(isPermissive("unknown")).toBe(false);
});
