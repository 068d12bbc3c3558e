import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf, fitsInto, type ParkedModel, ParkingBook } from "./book.js";

let next = 1;
const model = (id: string, bytes: number, more: Partial<ParkedModel<string>> = {}) =>
  ({
    model: id,
    key: "k",
    contextTokens: 100,
    slots: 1,
    conversations: [
      { slot: 0, held: id, tokens: 7, file: { name: `${next++}.slot`, bytes, crc32: 0 } },
    ],
    at: 0,
    forRestart: false,
    ...more,
  }) satisfies ParkedModel<string>;
const book = (maxBytes: number, capacityBytes = 1_000) =>
  new ParkingBook<string>({ enabled: true, maxBytes, capacityBytes });
const ids = (models: readonly ParkedModel<string>[]) => models.map((one) => one.model);

describe("what is parked", () => {
  it("is within the bound: the oldest goes first", () => {
    const parked = book(100);
    expect(parked.put(model("a", 40))).toEqual([]);
    expect(parked.put(model("b", 40))).toEqual([]);
    expect(ids(parked.put(model("c", 40)))).toEqual(["a"]);
    expect(ids(parked.list())).toEqual(["b", "c"]);
    expect(parked.bytes).toBe(80);
  });

  it("is not what alone is more than the bound, and nobody goes for it", () => {
    const parked = book(100);
    parked.put(model("a", 40));
    expect(ids(parked.put(model("b", 101)))).toEqual(["b"]);
    expect(ids(parked.list())).toEqual(["a"]);
  });

  it("is bounded by its place as well", () => {
    const parked = book(100, 50);
    parked.put(model("a", 30));
    expect(ids(parked.put(model("b", 30)))).toEqual(["a"]);
  });

  it("replaces what was parked of the same model, which is then the newest", () => {
    const parked = book(100);
    for (const id of ["a", "b"]) parked.put(model(id, 30));
    expect(ids(parked.put(model("a", 50)))).toEqual(["a"]);
    expect(ids(parked.list())).toEqual(["b", "a"]);
    expect(parked.bytes).toBe(80);
  });

  it("counts while it is restored, and no longer", () => {
    const parked = book(100);
    parked.put(model("a", 60));
    expect(parked.take("a")?.model).toBe("a");
    expect(parked.take("a")).toBeNull();
    expect([parked.bytes, parked.list()]).toEqual([60, []]);
    parked.restored("a");
    parked.restored("a");
    expect(parked.bytes).toBe(0);
  });

  it("goes when parking is turned off, and the oldest when the bound is lowered", () => {
    const parked = book(100);
    for (const id of ["a", "b", "c"]) parked.put(model(id, 30));
    expect(ids(parked.change({ maxBytes: 40 }))).toEqual(["a", "b"]);
    expect(ids(parked.change({ enabled: false }))).toEqual(["c"]);
    expect(ids(parked.put(model("d", 1)))).toEqual(["d"]);
  });

  it("stays for a restart also while parking is off", () => {
    const parked = new ParkingBook<string>({ enabled: false, maxBytes: 1, capacityBytes: 100 });
    expect(parked.put(model("a", 60, { forRestart: true }))).toEqual([]);
    expect(parked.change({ maxBytes: 2 })).toEqual([]);
    expect(parked.get("a")).toBeDefined();
    expect(ids(parked.put(model("b", 101, { forRestart: true })))).toEqual(["b"]);
  });

  it("fits an engine of the same kind with the same slots and no smaller pool", () => {
    const loaded = { key: "k", slots: 1, contextTokens: 100 };
    expect(fitsInto(model("a", 1), loaded)).toBe(true);
    expect(fitsInto(model("a", 1), { ...loaded, contextTokens: 200 })).toBe(true);
    expect(fitsInto(model("a", 1), { ...loaded, contextTokens: 99 })).toBe(false);
    expect(fitsInto(model("a", 1), { ...loaded, slots: 2 })).toBe(false);
    expect(fitsInto(model("a", 1), { ...loaded, key: "other" })).toBe(false);
    expect(fitsInto(model("a", 1), { ...loaded, key: null })).toBe(false);
  });

  it("is counted right and within its bound whatever is done, and each file is let go of once", () => {
    const step = fc.tuple(
      fc.constantFrom("put", "take", "restored", "drop", "bound", "switch"),
      fc.constantFrom("a", "b", "c", "d"),
      fc.integer({ min: 0, max: 60 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const parked = book(100);
        const held = new Set<string>();
        const taken = new Map<string, ParkedModel<string>>();
        const names = (one: ParkedModel<string>) => one.conversations.map(({ file }) => file.name);
        const letGo = (models: readonly ParkedModel<string>[]) => {
          for (const name of models.flatMap(names)) expect(held.delete(name)).toBe(true);
        };
        for (const [what, id, bytes] of steps) {
          if (what === "put" && !taken.has(id)) {
            const one = model(id, bytes);
            for (const name of names(one)) held.add(name);
            letGo(parked.put(one));
          } else if (what === "take" && !taken.has(id)) {
            const one = parked.take(id);
            if (one !== null) taken.set(id, one);
          } else if (what === "restored") {
            parked.restored(id);
            if (taken.has(id)) letGo([taken.get(id)!]);
            taken.delete(id);
          } else if (what === "drop") letGo(parked.drop(id));
          else if (what === "bound") letGo(parked.change({ maxBytes: bytes }));
          else if (what === "switch") letGo(parked.change({ enabled: bytes > 20 }));
          const all = [...parked.list(), ...taken.values()];
          expect(parked.bytes).toBe(all.reduce((sum, one) => sum + bytesOf(one), 0));
          expect(new Set(all.flatMap(names))).toEqual(held);
          if (taken.size === 0) expect(parked.bytes).toBeLessThanOrEqual(parked.maxBytes);
          if (!parked.enabled) expect(parked.list()).toEqual([]);
        }
      }),
    );
  });
});
