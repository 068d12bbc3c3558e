import { expect, test } from "vitest";
import { type Lock, lock, ROOT, script, text } from "./checkout.js";

interface Notices {
  notices(root: string): string;
  productionPackages(lock: Lock): { name: string; version: string }[];
}
const { notices, productionPackages } = await script<Notices>("notices.mjs");

test("THIRD_PARTY_NOTICES.md is what the installed packages say", () => {
  const matches = text("THIRD_PARTY_NOTICES.md") === notices(ROOT);
  expect(matches, "run `npm run notices` and commit it").toBe(true);
});

test("it names every production dependency and what a server fetches", () => {
  const page = text("THIRD_PARTY_NOTICES.md");
  const missing = productionPackages(lock).filter(
    ({ name, version }) => !page.includes(`| ${name} | ${version} |`),
  );
  expect(missing).toEqual([]);
  for (const fetched of ["llama.cpp", "Qwen2.5-Coder-0.5B-Instruct"])
    expect(page).toContain(fetched);
});

test("development tools and packages of this repository are not in it", () => {
  const names = productionPackages(lock).map(({ name }) => name);
  expect(names).not.toContain("vitest");
  expect(names).not.toContain("@somnus/contract");
});
