import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownIdentity, writeIdentity } from "../../processes/index.js";
import { freshAddress, sweepAddresses } from "./address.js";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "address-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe.skipIf(process.platform === "win32")("a socket address", () => {
  it("is in a private folder of its own, and goes with it", async () => {
    const one = await freshAddress(base);
    const two = await freshAddress(base);
    if (one.kind !== "socket" || two.kind !== "socket") throw new Error("no sockets here");
    expect(one.path).not.toBe(two.path);
    expect(one.path.endsWith(".sock")).toBe(true);
    expect(Buffer.byteLength(one.path)).toBeLessThan(104);
    expect(statSync(dirname(one.path)).mode & 0o777).toBe(0o700);
    await one.release();
    await one.release();
    expect(existsSync(dirname(one.path))).toBe(false);
    await two.release();
    expect(await readdir(base)).toEqual([]);
  });

  it("moves to the temporary folder where the path would be too long", async () => {
    const address = await freshAddress(join(base, "long".repeat(30)));
    if (address.kind !== "socket") throw new Error("no sockets here");
    expect(Buffer.byteLength(address.path)).toBeLessThan(104);
    await address.release();
    expect(existsSync(dirname(address.path))).toBe(false);
  });
});

it("a loopback address has a key that nobody can guess", async () => {
  const one = await freshAddress(base, "loopback");
  const two = await freshAddress(base, "loopback");
  if (one.kind !== "loopback" || two.kind !== "loopback") throw new Error("not asked for");
  expect(one.host).toBe("127.0.0.1");
  expect(one.apiKey.length).toBeGreaterThanOrEqual(32);
  expect(one.apiKey).not.toBe(two.apiKey);
});

it.skipIf(process.platform !== "linux")(
  "sweeps the folders of owners that are gone, and no others",
  async () => {
    const own = await ownIdentity();
    const folder = (owner: Partial<typeof own>, end: string) =>
      `engine-${writeIdentity({ ...own, ...owner })}-${end}`;
    const alive = folder({}, "aaaaaa");
    const samePidEarlier = folder({ start: String(Number(own.start) - 1) }, "bbbbbb");
    const gone = folder({ pid: 4194305, start: "77" }, "cccccc");
    const ofAnotherMachine = folder({ pid: 4194305, realm: "00000000" }, "dddddd");
    const foreign = "engine-notes";
    const all = [alive, samePidEarlier, gone, ofAnotherMachine, foreign];
    for (const name of all) await mkdir(join(base, name));
    await sweepAddresses(base);
    expect((await readdir(base)).sort()).toEqual([alive, ofAnotherMachine, foreign].sort());
    await sweepAddresses(join(base, "nowhere"));
  },
);
