import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { livenessOf, ownIdentity, readIdentity, writeIdentity } from "./identity.js";

it("is read as it was written, and any other text is none", async () => {
  const own = await ownIdentity();
  expect(own.pid).toBe(process.pid);
  expect(readIdentity(writeIdentity(own))).toEqual(own);
  for (const text of ["", "12", "12.34", "12.34.xyz", "12.34.0123456789", "a.34.01234567"]) {
    expect(readIdentity(text)).toBeNull();
  }
});

it("is alive while its process runs, dead afterwards", async () => {
  const own = await ownIdentity();
  expect(await livenessOf(own)).toBe("alive");
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  expect(await livenessOf({ ...own, pid: child.pid as number })).toBe("dead");
});

it.runIf(process.platform === "linux")("is not a later process with the same number", async () => {
  const own = await ownIdentity();
  expect(await livenessOf({ ...own, start: String(Number(own.start) - 1) })).toBe("dead");
  expect(await livenessOf({ ...own, pid: process.ppid, start: "1" })).toBe("dead");
});

it("says nothing about another machine's process", async () => {
  const own = await ownIdentity();
  expect(await livenessOf({ ...own, realm: "00000000" })).toBe("unknown");
});
