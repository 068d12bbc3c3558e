import { mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ownIdentity, writeIdentity } from "../../processes/index.js";
import { ParkingFolder } from "./folder.js";

let place: string;
let folder: ParkingFolder;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "park-"));
  folder = await ParkingFolder.open([place]);
});
afterEach(async () => {
  await folder.close();
  await rm(place, { recursive: true, force: true });
});

const mode = async (path: string) => (await stat(path)).mode & 0o777;

async function written(text: string): Promise<string> {
  const name = await folder.fresh();
  await writeFile(join(folder.path, name), text);
  return name;
}

it.skipIf(process.platform === "win32")("nobody else can read what is parked", async () => {
  expect(await mode(folder.path)).toBe(0o700);
  const name = await folder.fresh();
  expect(await mode(join(folder.path, name))).toBe(0o600);
  const kept = await folder.keep(name, 0);
  expect(await mode(join(folder.path, kept.name))).toBe(0o600);
});

it("a file that is whole is kept under another name and is found to be the same", async () => {
  const name = await written("what was said");
  const kept = await folder.keep(name, 13);
  expect(kept).toMatchObject({ bytes: 13 });
  expect(await readdir(folder.path)).toEqual([kept.name]);
  expect(kept.name).not.toBe(name);
  await expect(folder.check(kept)).resolves.toBeUndefined();
});

it("a file that is shorter than its engine says is not kept", async () => {
  await expect(folder.keep(await written("what was"), 13)).rejects.toThrow(
    "8 bytes in place of 13",
  );
});

it("a cut file and one with a flipped bit are found before anybody reads them", async () => {
  const cut = await folder.keep(await written("what was said"), 13);
  const flipped = await folder.keep(await written("what was said"), 13);
  await truncate(join(folder.path, cut.name), 12);
  await writeFile(join(folder.path, flipped.name), "what wAs said");
  await expect(folder.check(cut)).rejects.toThrow("12 bytes");
  await expect(folder.check(flipped)).rejects.toThrow("has changed");
  await folder.remove(cut.name);
  await expect(folder.check(cut)).rejects.toThrow("ENOENT");
});

it("what a process that is gone has left is removed, what others use stays", async () => {
  const own = await ownIdentity();
  const dead = `somnus-parked-${writeIdentity({ ...own, pid: 2 ** 22 + 1, start: "1" })}-abcdef`;
  const elsewhere = `somnus-parked-${writeIdentity({ ...own, realm: "00000000" })}-abcdef`;
  for (const name of [dead, elsewhere]) await mkdir(join(place, name));
  await writeFile(join(place, dead, "1.slot"), "old");
  const second = await ParkingFolder.open([place]);
  const left = await readdir(place);
  expect(left).not.toContain(dead);
  expect(left).toContain(elsewhere);
  expect(left).toHaveLength(3);
  await second.close();
  expect(await readdir(place)).toHaveLength(2);
});

it("a place that cannot be used is passed over", async () => {
  await writeFile(join(place, "file"), "");
  const other = await ParkingFolder.open([join(place, "file", "below"), place]);
  expect(other.path.startsWith(place)).toBe(true);
  await other.close();
  await expect(ParkingFolder.open([join(place, "file", "below")])).rejects.toThrow();
});
