import { expect, test } from "vitest";
import { type Lock, lock } from "./checkout.js";

/** Where Node.js looks for `name` from the package at `path`, nearest first. */
function places(path: string, name: string): string[] {
  const parts = path.split("/node_modules/");
  const folders = parts.map((_, n) => parts.slice(0, parts.length - n).join("/node_modules/"));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}

/** Dependencies that no entry of the lock provides, as "who -> what". */
function missing({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !places(path, name).some((place) => place in packages))
      .map((name) => `${path} -> ${name}`),
  );
}

test("the lock file has every dependency it names, or npm ci refuses it", () => {
  expect(missing(lock)).toEqual([]);
});

test("an optional dependency that the registry did not have is found missing", () => {
  const a = { dependencies: { b: "1" }, optionalDependencies: { nowhere: "1" } };
  const packages = { "node_modules/a": a, "node_modules/a/node_modules/b": {} };
  expect(missing({ packages })).toEqual(["node_modules/a -> nowhere"]);
});
