import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { foreignPackages, rootPackage, script } from "./checkout.js";

const require = createRequire(import.meta.url);
const { satisfies, minVersion } = require("semver") as {
  satisfies(version: string, range: string): boolean;
  minVersion(range: string): { version: string };
};
const oldest = minVersion(rootPackage.engines.node).version;

test("every dependency runs on the oldest Node.js that we promise", () => {
  const unsupported = foreignPackages
    .filter(([, entry]) => !satisfies(oldest, entry.engines?.node ?? "*"))
    .map(([path, entry]) => `${path} wants ${entry.engines?.node}`);
  expect(unsupported).toEqual([]);
});

test("set-up and package.json promise the same Node.js", async () => {
  const { OLDEST_NODE } = await script<{ OLDEST_NODE: number[] }>("lib/node-version.mjs");
  expect(`${OLDEST_NODE.join(".")}.0`).toBe(oldest);
});
