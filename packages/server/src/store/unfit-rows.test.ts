import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { correction, keptLog, load } from "./__fixtures__/rows.js";
import { openMemory } from "./file.js";
import { openStore, reloadTimes, saveLoad } from "./index.js";
import { correctionsFor, saveCorrection } from "./queries/memory-corrections.js";
import { TABLES } from "./tables.js";
import { decodeRow, encodeRow, UnfitRow } from "./values.js";

describe("a row that does not fit its table", () => {
  // A boolean that reached libsql would end the whole process.
  it.each([
    ["ms", true],
    ["ms", Number.NaN],
    ["ms", "12"],
    ["ms", undefined],
    ["at", 1.5],
    ["at", 2 ** 60],
    ["model", null],
    ["bytes", 10n],
  ])(
    "because %s is %s is refused, counted and told, and nothing is thrown",
    async (name, value) => {
      const log = keptLog();
      const store = await openStore({ memory: true, log });
      store.append("model_loads", [{ ...load(1), [name]: value }]);
      saveLoad(store, load(2));
      await store.flush();
      expect(store.status()).toMatchObject({ refused: 1, written: 1 });
      expect(log.said).toEqual([
        [
          "error",
          expect.any(String),
          { rows: 1, reason: expect.stringContaining(`model_loads: ${name} is`) },
        ],
      ]);
      await store.close();
    },
  );

  it("takes those of its group with it and no others", async () => {
    const store = await openStore({ memory: true, log: keptLog() });
    store.together([
      { table: "model_loads", rows: [load(1)] },
      { table: "model_loads", rows: [{ ...load(1), at: Number.NaN }] },
    ]);
    store.together([{ table: "model_loads", rows: [load(2)] }]);
    expect((await reloadTimes(store)).map(({ lastMs }) => lastMs)).toEqual([2]);
    await store.close();
  });

  it("is left out with its group when only the database finds out, and the rest is written", () => {
    const connection = openMemory();
    const average = (measure: string) => ["m", measure, 1, null, 1, 1];
    const group = (...rows: (string | number | null)[][]) => ({
      writes: rows.map((row) => ({ table: "service_times" as const, rows: [row] })),
      rows: rows.length,
      bytes: 0,
    });
    const unfit = ["m", "unfit", "text", null, 1, 1];
    expect(
      connection.write([group(average("a")), group(average("b"), unfit), group(average("c"))]),
    ).toEqual({ busy: false, written: 2, refused: 2, why: expect.stringContaining("REAL") });
    expect(
      connection
        .newest("service_times", 9)
        .map(([, measure]) => measure)
        .sort(),
    ).toEqual(["a", "c"]);
    connection.close();
  });

  it("is refused whatever is in it, or comes back as it was", () => {
    const value = fc.oneof(fc.anything(), fc.double(), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(fc.record({ ms: value, bytes: value, model: value, at: value }), (row) => {
        try {
          const values = encodeRow(TABLES.model_loads, { fromTier: "t", ...row });
          for (const one of values) expect(["string", "number", "object"]).toContain(typeof one);
          const back = decodeRow(TABLES.model_loads, values);
          expect(back.ms).toBe(row.ms);
        } catch (error) {
          expect(error).toBeInstanceOf(UnfitRow);
        }
      }),
    );
  });

  it("is not one that has odd text in it", async () => {
    const store = await openStore({ memory: true, log: keptLog() });
    saveCorrection(
      store,
      correction({ settings: "a\ud800'\"\u0000b", measured: { "\ud800": null } }),
    );
    expect(await correctionsFor(store, "sha256:1", "b1")).toMatchObject([
      { settings: "a\ufffd'\"\ufffdb" },
    ]);
    await store.close();
  });
});
