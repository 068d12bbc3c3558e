import { expect, it } from "vitest";
import type { Progress } from "../observe/index.js";
import { startTransfer } from "./transfer.js";

it("progress is smoothed, monotone and at most five times a second, with the end always shown", () => {
  let now = 0;
  const seen: Progress[] = [];
  const transfer = startTransfer(
    { step: "fetching x", file: "x", total: 10_000 },
    (progress) => seen.push(progress),
    () => now,
  );
  for (let step = 1; step <= 90; step += 1) {
    now += 100;
    transfer.reached(step * 100);
  }
  transfer.reached(50);
  expect(seen).toHaveLength(46);
  expect(seen[0]).toEqual({ step: "fetching x", file: "x", done: 0, total: 10_000, unit: "bytes" });
  expect(seen.at(-1)?.done).toBe(9_000);
  expect(seen.at(-1)?.rate).toBeCloseTo(1_000);
  expect(seen.at(-1)?.etaSecs).toBe(1);
  now += 1_000;
  transfer.reached(9_000);
  const slower = seen.at(-1)?.rate ?? 0;
  expect(slower).toBeGreaterThan(500);
  expect(slower).toBeLessThan(1_000);
  now += 1;
  transfer.reached(10_000);
  expect(seen.at(-1)).toMatchObject({ done: 10_000, etaSecs: 0 });
});
