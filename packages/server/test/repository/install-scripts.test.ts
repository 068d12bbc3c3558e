import { expect, test } from "vitest";
import { foreignPackages, nameOf, rootPackage } from "./checkout.js";

const reviewed = Object.keys(rootPackage.allowScripts ?? {});
const withScript = foreignPackages.filter(([, entry]) => entry.hasInstallScript === true);

/** A key of `allowScripts` is a name, or a name with the reviewed versions: "sharp@1.2.3 || 1.2.4". */
function covers(key: string, name: string, version: string): boolean {
  const at = key.indexOf("@", 1);
  if (at === -1) return key === name;
  const versions = key
    .slice(at + 1)
    .split("||")
    .map((part) => part.trim());
  return key.slice(0, at) === name && versions.includes(version);
}

test("every package with an install script is allowed or denied in package.json", () => {
  const unreviewed = withScript
    .filter(
      ([path, entry]) => !reviewed.some((key) => covers(key, nameOf(path), entry.version ?? "")),
    )
    .map(([path, entry]) => `${nameOf(path)}@${entry.version}`);
  expect(unreviewed, "review them, then `npm install-scripts approve` or `deny`").toEqual([]);
});

test("allowScripts names nothing that is not installed with a script", () => {
  const stale = reviewed.filter(
    (key) => !withScript.some(([path, entry]) => covers(key, nameOf(path), entry.version ?? "")),
  );
  expect(stale, "`npm install-scripts prune` removes them").toEqual([]);
});

test("an entry covers a name, a pinned version and a choice of versions", () => {
  expect(covers("sharp", "sharp", "1.0.0")).toBe(true);
  expect(covers("@a/b@1.0.0", "@a/b", "1.0.0")).toBe(true);
  expect(covers("@a/b@1.0.0", "@a/b", "1.0.1")).toBe(false);
  expect(covers("@a/b@1.0.0 || 1.0.1", "@a/b", "1.0.1")).toBe(true);
});
