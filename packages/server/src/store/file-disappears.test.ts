import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "./__fixtures__/rows.js";
import { Ledger } from "./ledger.js";

const average = (at: number) => ({
  writes: [{ table: "service_times" as const, rows: [["m", `at ${at}`, 1, null, 1, at]] }],
  rows: 1,
  bytes: 100,
});
const count = (ledger: Ledger) => ledger.all("SELECT count(*) FROM service_times", [])[0]?.[0];

it("a file that is removed while it is in use is made anew", async () => {
  const file = join(await tempDir(), "store", "s.db");
  const told: string[] = [];
  const ledger = new Ledger(file, (level, _, message) => told.push(`${level} ${message}`));
  ledger.write([average(1)]);
  await rm(dirname(file), { recursive: true });
  expect(ledger.write([average(2)])).toMatchObject({ written: 1 });
  expect(ledger.status.kept).toBe("file");
  expect(count(ledger)).toBe(1);
  expect(told).toEqual([expect.stringMatching(/^warn .*opened anew/)]);
  ledger.close();
  const again = new Ledger(file, () => {});
  expect(count(again)).toBe(1);
  again.close();
});

it("where it cannot be made anew memory takes over, until it can", async () => {
  const dir = await tempDir();
  const file = join(dir, "store", "s.db");
  const told: string[] = [];
  const ledger = new Ledger(file, (level, _, message) => told.push(`${level} ${message}`));
  // A folder in the file's place: nobody, whatever his rights, writes a file there.
  await rename(file, `${file}.moved`);
  await rm(`${file}-wal`);
  await rm(`${file}-shm`);
  await mkdir(file);
  expect(ledger.write([average(1)])).toMatchObject({ written: 1 });
  expect(ledger.status).toMatchObject({
    kept: "memory",
    reason: expect.any(String),
    unsavedRows: 1,
  });
  expect(count(ledger)).toBe(1);
  ledger.tend(1);
  expect(ledger.status.kept).toBe("memory");
  await rm(file, { recursive: true });
  ledger.write([average(2)]);
  ledger.tend(2);
  expect(ledger.status).toMatchObject({ kept: "file", reason: null, unsavedRows: 0 });
  expect(count(ledger)).toBe(2);
  expect(told.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
  ledger.close();
});

it.skipIf(process.platform === "win32")(
  "the file and its folder are for this user only",
  async () => {
    const file = join(await tempDir(), "store", "s.db");
    const ledger = new Ledger(file, () => {});
    ledger.write([average(1)]);
    for (const [path, mode] of [
      [dirname(file), 0o700],
      [file, 0o600],
      [`${file}-wal`, 0o600],
    ] as const) {
      expect((await stat(path)).mode & 0o777).toBe(mode);
    }
    ledger.close();
  },
);
