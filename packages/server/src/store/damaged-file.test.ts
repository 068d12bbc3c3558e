import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { load, tempDir } from "./__fixtures__/rows.js";
import { Connection } from "./connection.js";
import { openFile } from "./file.js";
import { Ledger } from "./ledger.js";
import { TABLES } from "./tables.js";
import { encodeRow } from "./values.js";

const group = (rows: number) => ({
  writes: [
    {
      table: "model_loads" as const,
      rows: Array.from({ length: rows }, (_, at) => encodeRow(TABLES.model_loads, load(at))),
    },
  ],
  rows,
  bytes: 0,
});

/** A sound file with so many rows in it, its log folded in. */
async function filled(rows: number): Promise<string> {
  const file = join(await tempDir(), "s.db");
  const { connection } = openFile(file);
  connection.write([group(rows)]);
  connection.close();
  return file;
}

const damage: [string, (bytes: Buffer) => Buffer][] = [
  ["is something else", () => Buffer.alloc(20_000, "z")],
  ["is shorter than one page", (bytes) => bytes.subarray(0, 700)],
  ["was cut", (bytes) => bytes.subarray(0, 4096 * 7 + 100)],
  ["has pages of something else", (bytes) => bytes.fill(0xff, 4096 * 6, 4096 * 12)],
];

/** The files beside, without what SQLite adds to each. */
async function names(file: string): Promise<string[]> {
  return (await readdir(dirname(file))).filter((name) => !/-(wal|shm)$/.test(name)).sort();
}

describe("a file that", () => {
  it.each(damage)("%s is put aside at the start, and a new one is in use", async (_, spoil) => {
    const file = await filled(2_000);
    const spoiled = spoil(await readFile(file));
    await writeFile(file, spoiled);
    const told: string[] = [];
    const ledger = new Ledger(file, (level, _fields, message) => told.push(`${level} ${message}`));
    const { setAside } = ledger.status;
    expect(ledger.status).toMatchObject({ kept: "file", reason: null });
    expect(told).toEqual([expect.stringMatching(/^warn .*damaged; it was put aside/)]);
    expect(await names(file)).toEqual(["s.db", setAside?.slice(dirname(file).length + 1)]);
    expect((await readFile(setAside ?? "")).length).toBe(spoiled.length);
    expect(ledger.write([group(3)])).toMatchObject({ written: 3 });
    ledger.close();
    const again = openFile(file);
    expect(again.connection.newest("model_loads", 9)).toHaveLength(3);
    again.connection.close();
  });

  it("has tables of these names with other columns is put aside", async () => {
    const file = join(await tempDir(), "s.db");
    const other = new Connection(file);
    other.exec("CREATE TABLE model_loads (x); INSERT INTO model_loads VALUES (1)");
    other.close();
    const ledger = new Ledger(file, () => {});
    expect(ledger.status).toMatchObject({ kept: "file", setAside: expect.any(String) });
    ledger.close();
  });

  it("turns out to be damaged in use is put aside, and the new one is in use", async () => {
    // More than SQLite keeps in memory, so that it reads the file again.
    const file = await filled(100_000);
    const told: string[] = [];
    const ledger = new Ledger(file, (_level, _fields, message) => told.push(message));
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0xff, 4096 * 30));
    expect(ledger.all("SELECT count(ms) FROM model_loads", [])).toEqual([[0]]);
    expect(ledger.write([group(3)])).toMatchObject({ written: 3, busy: false });
    expect(ledger.status).toMatchObject({ kept: "file", setAside: expect.any(String) });
    expect(told[0]).toMatch(/put aside/);
    ledger.close();
    const again = openFile(file);
    expect(again.connection.value("SELECT count(ms) FROM model_loads")).toBe(3);
    again.connection.close();
  });

  it("is damaged again and again leaves the latest three", async () => {
    const file = await filled(1);
    for (let round = 0; round < 5; round += 1) {
      await writeFile(file, Buffer.alloc(9_000, String(round)));
      openFile(file).connection.close();
      // Names are told apart by milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const aside = (await names(file)).filter((name) => name.includes(".damaged-"));
    const contents = await Promise.all(
      aside.map((name) => readFile(join(dirname(file), name), "utf8")),
    );
    expect(contents.map((content) => content[0])).toEqual(["2", "3", "4"]);
  });
});
