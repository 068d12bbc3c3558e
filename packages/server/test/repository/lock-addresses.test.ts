import { expect, test } from "vitest";
import { foreignPackages, lock, text } from "./checkout.js";

test("the lock file names no registry, so that everybody's own one is used", () => {
  expect(foreignPackages.length).toBeGreaterThan(0);
  const addressed = Object.entries(lock.packages)
    .filter(([, entry]) => /^[a-z+]+:/.test(entry.resolved ?? ""))
    .map(([path]) => path);
  expect(addressed).toEqual([]);
});

test("npm is told to keep it so", () => {
  expect(text(".npmrc")).toMatch(/^omit-lockfile-registry-resolved=true$/m);
});

test("every package is pinned by a checksum", () => {
  const unpinned = foreignPackages.filter(([, entry]) => entry.integrity === undefined);
  expect(unpinned.map(([path]) => path)).toEqual([]);
});
