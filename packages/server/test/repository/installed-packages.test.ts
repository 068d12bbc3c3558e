import { expect, test } from "vitest";
import { type Lock, script } from "./checkout.js";

const { installedAgrees } = await script<{
  installedAgrees(
    lock: Lock,
    npmRecord: Lock | undefined,
    machine: { platform: string; arch: string },
  ): boolean;
}>("lib/checkout.mjs");

const linux = { platform: "linux", arch: "x64" };
const a = { version: "1.0.0", integrity: "sha512-a" };
const forLinux = {
  version: "1.0.0",
  integrity: "sha512-l",
  optional: true,
  os: ["linux"],
  cpu: ["x64"],
};
const forMac = {
  version: "1.0.0",
  integrity: "sha512-m",
  optional: true,
  os: ["darwin"],
  cpu: ["arm64"],
};
const lock: Lock = {
  packages: { "": {}, "node_modules/a": a, "node_modules/l": forLinux, "node_modules/m": forMac },
};
const done: Lock = { packages: { "node_modules/a": a, "node_modules/l": forLinux } };

test("what was installed for this machine agrees", () => {
  expect(installedAgrees(lock, done, linux)).toBe(true);
});

test("packages installed on another machine do not", () => {
  expect(installedAgrees(lock, done, { platform: "darwin", arch: "arm64" })).toBe(false);
});

test.each<[string, Lock | undefined]>([
  ["no record", undefined],
  ["a missing package", { packages: { "node_modules/l": forLinux } }],
  [
    "another version",
    { packages: { ...done.packages, "node_modules/a": { ...a, version: "1.0.1" } } },
  ],
  [
    "other content",
    { packages: { ...done.packages, "node_modules/a": { ...a, integrity: "sha512-b" } } },
  ],
  ["a package too many", { packages: { ...done.packages, "node_modules/z": a } }],
])("%s does not agree", (_, npmRecord) => {
  expect(installedAgrees(lock, npmRecord, linux)).toBe(false);
});
