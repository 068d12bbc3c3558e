import { describe, expect, it } from "vitest";
import { keptLog, load } from "./__fixtures__/rows.js";
import { WriteBuffer } from "./buffer.js";
import { openStore } from "./index.js";

const group = (rows: number, bytes = rows) => ({ writes: [], rows, bytes });

describe("rows that wait", () => {
  it("are given out in order, whole groups, until there are as many as asked for", () => {
    const buffer = new WriteBuffer({ rows: 100, bytes: 1000 });
    const [first, second, third] = [group(10), group(20), group(5)];
    for (const one of [first, second, third]) expect(buffer.add(one)).toBe(true);
    expect(buffer.take(11)).toEqual([first, second]);
    expect(buffer.rows).toBe(5);
    buffer.putBack([first, second]);
    expect(buffer.take(1000)).toEqual([first, second, third]);
    expect(buffer.rows).toBe(0);
  });

  it("are refused beyond a number and beyond a size, and taken again when some have gone", () => {
    const buffer = new WriteBuffer({ rows: 100, bytes: 1000 });
    expect(buffer.add(group(60))).toBe(true);
    expect(buffer.add(group(60))).toBe(false);
    expect(buffer.add(group(1, 990))).toBe(false);
    buffer.take(1);
    expect(buffer.add(group(1, 990))).toBe(true);
  });

  it("that are dropped are counted by table and told in the log once", async () => {
    const log = keptLog();
    const store = await openStore({ memory: true, log, waiting: { rows: 120, bytes: 1e6 } });
    store.append(
      "model_loads",
      Array.from({ length: 130 }, (_, at) => load(at)),
    );
    store.append(
      "model_loads",
      Array.from({ length: 50 }, (_, at) => load(at)),
    );
    expect(store.status()).toMatchObject({
      waiting: 100,
      dropped: { model_loads: 80 },
      written: 0,
    });
    await store.flush();
    expect(store.status()).toMatchObject({ waiting: 0, written: 100 });
    store.append("model_loads", [load(1)]);
    await store.close();
    expect(store.status()).toMatchObject({ written: 101, dropped: { model_loads: 80 } });
    store.append("model_loads", [load(1)]);
    expect(store.status().dropped).toEqual({ model_loads: 81 });
    expect(log.said.map(([level]) => level)).toEqual(["warn"]);
  });
});
