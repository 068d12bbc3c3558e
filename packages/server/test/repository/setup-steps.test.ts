import { expect, test } from "vitest";
import { script } from "./checkout.js";

interface Found {
  installed: { lock: string; runtime: string } | undefined;
  built: string | undefined;
  wanted: { lock: string; runtime: string };
  packagesPresent: boolean;
  packagesAgree: boolean;
  sources: string;
  outputsPresent: boolean;
}
const { stepsFor } = await script<{
  stepsFor(found: Found): { name: string; why: string }[];
}>("lib/steps-for.mjs");

const now = { lock: "lock 1", runtime: "ABI 115, linux x64" };
const current: Found = {
  installed: now,
  built: "sources 1",
  wanted: now,
  packagesPresent: true,
  packagesAgree: true,
  sources: "sources 1",
  outputsPresent: true,
};
const fresh: Found = {
  ...current,
  installed: undefined,
  built: undefined,
  packagesPresent: false,
  packagesAgree: false,
  outputsPresent: false,
};

function steps(change: Partial<Found>): string[] {
  return stepsFor({ ...current, ...change }).map(({ name, why }) => `${name}: ${why}`);
}

test("a current checkout needs nothing", () => {
  expect(steps({})).toEqual([]);
});

test("a fresh clone is installed, then built", () => {
  expect(steps(fresh)).toEqual(["install: first run", "build: first run"]);
});

test("a removed or half-installed node_modules is installed again", () => {
  expect(steps({ packagesPresent: false })).toEqual(["install: node_modules is not complete"]);
});

test("a changed lock file is installed and built, since it is part of the sources", () => {
  expect(
    steps({ wanted: { ...now, lock: "lock 2" }, packagesAgree: false, sources: "sources 2" }),
  ).toEqual(["install: package-lock.json changed", "build: sources changed"]);
});

test("a lock file that a developer's own npm install already fulfils is not installed again", () => {
  expect(steps({ wanted: { ...now, lock: "lock 2" }, packagesAgree: true })).toEqual([]);
});

test("another Node.js ABI or platform is installed again, and the reason names both", () => {
  expect(steps({ wanted: { ...now, runtime: "ABI 127, linux x64" } })).toEqual([
    "install: Node.js was ABI 115, linux x64, is ABI 127, linux x64",
  ]);
});

test("changed sources are built only", () => {
  expect(steps({ sources: "sources 2" })).toEqual(["build: sources changed"]);
});

test("a removed build output is built again", () => {
  expect(steps({ outputsPresent: false })).toEqual(["build: build output is missing"]);
});
