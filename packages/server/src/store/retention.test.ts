import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { load, tempDir } from "./__fixtures__/rows.js";
import { openMemory } from "./file.js";
import { Ledger } from "./ledger.js";
import { TABLES } from "./tables.js";
import { encodeRow } from "./values.js";

const DAY = 86_400_000;
const { days, rows: most } = TABLES.model_loads.keep;

/** Rows at these moments as one group. */
function loadsAt(moments: readonly number[]) {
  const rows = moments.map((at) => encodeRow(TABLES.model_loads, load(1, { at })));
  return { writes: [{ table: "model_loads" as const, rows }], rows: rows.length, bytes: 0 };
}

describe("rows past their time", () => {
  it("go, and the others stay", () => {
    const connection = openMemory();
    const now = 1000 * DAY;
    connection.write([loadsAt([now - (days + 1) * DAY, now - days * DAY, now])]);
    expect(connection.dropOld(now, most)).toBe(1);
    expect(connection.newest("model_loads", 9).map((row) => row.at(-1))).toEqual([
      now,
      now - days * DAY,
    ]);
    connection.close();
  });

  it("go an hour after the last look at the earliest", async () => {
    const ledger = new Ledger(join(await tempDir(), "s.db"), () => {});
    const count = () => ledger.all("SELECT count(*) FROM model_loads", [])[0]?.[0];
    const now = 1000 * DAY;
    ledger.tend(now);
    ledger.write([loadsAt([1, 2, now])]);
    ledger.tend(now + 3_599_999);
    expect(count()).toBe(3);
    ledger.tend(now + 3_600_000);
    expect(count()).toBe(1);
    ledger.close();
  });
});

describe("rows that are too many", () => {
  it("go from the oldest on", () => {
    const connection = openMemory();
    const moments = Array.from({ length: most + 4_500 }, (_, index) => DAY + index);
    connection.write([loadsAt(moments)]);
    expect(connection.dropOld(DAY, Number.POSITIVE_INFINITY)).toBe(4_500);
    expect(connection.value("SELECT min(at) FROM model_loads")).toBe(DAY + 4_500);
    expect(connection.value("SELECT count(*) FROM model_loads")).toBe(most);
    connection.close();
  });

  it("give their space back to the system", async () => {
    const ledger = new Ledger(join(await tempDir(), "s.db"), () => {});
    const pages = () => Number(ledger.all("PRAGMA page_count", [])[0]?.[0]);
    ledger.write([loadsAt(Array.from({ length: 5_000 }, (_, index) => index))]);
    const before = pages();
    ledger.tend(1000 * DAY);
    expect(pages()).toBeLessThan(before / 2);
    ledger.close();
  });
});
