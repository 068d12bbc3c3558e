import { expect, it } from "vitest";
import { keptLog } from "./__fixtures__/rows.js";
import { type Counter, openStore, windowAt } from "./index.js";

const NOW = Date.UTC(2026, 1, 28, 23, 59, 30);
const open = () => openStore({ memory: true, log: keptLog(), now: () => NOW });
const counter = (more: Partial<Counter> = {}): Counter => ({
  name: "key:a requests",
  window: windowAt(NOW, "minute"),
  limit: 10,
  ...more,
});

it("a take is granted up to the limit and changes nothing beyond it", async () => {
  const store = await open();
  const resetsAt = Date.UTC(2026, 2, 1);
  expect(await store.take(counter(), 6)).toEqual({
    granted: true,
    used: 6,
    remaining: 4,
    resetsAt,
  });
  expect(await store.take(counter(), 5)).toEqual({
    granted: false,
    used: 6,
    remaining: 4,
    resetsAt,
  });
  expect(await store.take(counter(), 4)).toEqual({
    granted: true,
    used: 10,
    remaining: 0,
    resetsAt,
  });
  expect(await store.take(counter({ name: "other" }), 1)).toMatchObject({ granted: true, used: 1 });
  await store.close();
});

it("what is given back can be taken again, and a total does not go below zero", async () => {
  const store = await open();
  await store.take(counter(), 10);
  expect(await store.take(counter(), -3)).toMatchObject({ granted: true, used: 7 });
  expect(await store.take(counter(), 3)).toMatchObject({ granted: true, used: 10 });
  expect(await store.take(counter(), -30)).toMatchObject({ granted: true, used: 0, remaining: 10 });
  await store.close();
});

it("without a limit everything is granted and counted", async () => {
  const store = await open();
  await store.take(counter({ limit: null }), 1e6);
  expect(await store.take(counter({ limit: null }), 0.5)).toMatchObject({
    granted: true,
    used: 1_000_000.5,
    remaining: null,
  });
  await store.close();
});

it("takes at the same moment are granted exactly up to the limit, in the order they came", async () => {
  const store = await open();
  const taken = await Promise.all(Array.from({ length: 50 }, () => store.take(counter(), 1)));
  expect(taken.map(({ granted }) => granted)).toEqual(taken.map((_, index) => index < 10));
  await store.close();
});

it("the next window begins at zero", async () => {
  const store = await open();
  await store.take(counter(), 10);
  const next = counter({ window: windowAt(NOW + 60_000, "minute") });
  expect(await store.take(next, 1)).toMatchObject({ granted: true, used: 1 });
  await store.close();
});

it("a take after the end and one of no number are refused", async () => {
  const store = await open();
  await expect(store.take(counter(), Number.NaN)).rejects.toMatchObject({ code: "internal" });
  await store.close();
  await expect(store.take(counter(), 1)).rejects.toMatchObject({ code: "shutting_down" });
});

it.each([
  ["minute", "2026-02-28T23:59:00Z", "2026-03-01T00:00:00Z"],
  ["hour", "2026-02-28T23:00:00Z", "2026-03-01T00:00:00Z"],
  ["day", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"],
  ["month", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"],
] as const)("the %s of a moment is counted in UTC", (length, from, until) => {
  expect(windowAt(NOW, length)).toEqual({ from: Date.parse(from), until: Date.parse(until) });
});

it("a window of any length holds the moment it is asked for", () => {
  expect(windowAt(12_345, { ms: 1_000 })).toEqual({ from: 12_000, until: 13_000 });
  expect(windowAt(12_000, { ms: 1_000 })).toEqual({ from: 12_000, until: 13_000 });
  expect(windowAt(Date.UTC(2026, 11, 31), "month").until).toBe(Date.UTC(2027, 0));
});
