import { expect, it } from "vitest";
import { lossOf } from "./loss.js";
import {
  expectedPerMinute,
  RATE_DECAY_MS,
  rateOf,
  requestsPerMinute,
  type Use,
  withRequest,
} from "./rate.js";

const MINUTE = 60_000;

const usedAt = (history: readonly number[]) =>
  history.reduce<Use | null>((use, at) => withRequest(use, at), null);
const every = (gap: number, from: number, to: number) =>
  Array.from({ length: Math.floor((to - from) / gap) + 1 }, (_, i) => from + i * gap);

it("tells the rate of a steady stream of requests", () => {
  expect(rateOf(every(10_000, 0, 9_990_000), 9_990_000)).toBeCloseTo(6, 0);
});

it("forgets within about ten minutes", () => {
  const one = rateOf([0], 0);
  expect(rateOf([0], RATE_DECAY_MS) / one).toBeCloseTo(1 / Math.E, 10);
  expect(rateOf([0], 60 * MINUTE) / one).toBeLessThan(0.003);
});

it("is kept as a few numbers with the same result as the whole history", () => {
  const history = [0, 100, 60_000, 61_000, 400_000, 1_000_000];
  for (const now of [1_000_000, 1_500_000, 9_000_000]) {
    expect(requestsPerMinute(usedAt(history), now)).toBeCloseTo(rateOf(history, now), 12);
  }
});

it("is 0 for a model that nobody asked for, which is still worth its reload", () => {
  expect(requestsPerMinute(null, 5 * MINUTE)).toBe(0);
  expect(expectedPerMinute(null, 5 * MINUTE)).toBe(0);
  expect(rateOf([], 5 * MINUTE)).toBe(0);
  expect(lossOf(9000, 0)).toBeGreaterThan(lossOf(3000, 0));
});

it("does not count requests that come later", () => {
  expect(rateOf([1000, 2000], 500)).toBe(0);
});

it("expects of a steady stream what it was", () => {
  for (const gap of [MINUTE, 10 * MINUTE, 30 * MINUTE]) {
    const expected = expectedPerMinute(usedAt(every(gap, 0, 480 * MINUTE)), 480 * MINUTE);
    expect(expected / (MINUTE / gap)).toBeGreaterThan(0.9);
    expect(expected / (MINUTE / gap)).toBeLessThan(1.4);
  }
});

it("tells models apart that are asked for a few times an hour", () => {
  const now = 360 * MINUTE;
  const often = usedAt(every(15 * MINUTE, 0, 330 * MINUTE));
  const seldom = usedAt(every(60 * MINUTE, 58 * MINUTE, 358 * MINUTE));
  // The seldom one was asked for last, so ten minutes alone prefer it.
  expect(requestsPerMinute(seldom, now)).toBeGreaterThan(5 * requestsPerMinute(often, now));
  expect(expectedPerMinute(often, now)).toBeGreaterThan(expectedPerMinute(seldom, now));
});

it("lets go of a model that was used much and then no more", () => {
  const busyBefore = usedAt(every(30_000, 0, 60 * MINUTE));
  const now = 90 * MINUTE;
  const inUse = usedAt(every(3 * MINUTE, 75 * MINUTE, now));
  expect(expectedPerMinute(inUse, now)).toBeGreaterThan(2 * expectedPerMinute(busyBefore, now));
});

it("only ever falls while nobody asks", () => {
  const use = usedAt([0, MINUTE, 5 * MINUTE]);
  let last = Number.POSITIVE_INFINITY;
  for (let now = 5 * MINUTE; now < 24 * 60 * MINUTE; now += 7 * MINUTE) {
    const expected = expectedPerMinute(use, now);
    expect(expected).toBeLessThan(last);
    last = expected;
  }
});
