import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { giveHeapBack, IdleHeap, youngBytes } from "./idle-heap.js";
import { createLog } from "./observe/index.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes young objects, some of which stay for a while, until V8 has given them room. */
function fillYoungSpace(): void {
  let kept: object[] = [];
  for (let i = 0; i < 3_000_000 && youngBytes() < 9 * 2 ** 20; i++) {
    kept.push({ i });
    if (kept.length > 200_000) kept = [];
  }
}

it("what young objects have left is given back", async () => {
  fillYoungSpace();
  const before = youngBytes();
  expect(before).toBeGreaterThan(8 * 2 ** 20);
  await giveHeapBack();
  expect(youngBytes()).toBeLessThan(before / 2);
});

it("it is given back after two looks at an idle server, and not at a busy one", async () => {
  let idle = false;
  let asked = 0;
  const heap = new IdleHeap({
    isIdle: () => {
      asked++;
      return idle;
    },
    log: createLog("silent"),
  });
  fillYoungSpace();
  vi.advanceTimersByTime(10_000);
  expect(asked).toBe(5);
  expect(youngBytes()).toBeGreaterThan(8 * 2 ** 20);
  idle = true;
  vi.advanceTimersByTime(2_000);
  await Promise.resolve();
  expect(youngBytes()).toBeGreaterThan(8 * 2 ** 20);
  vi.advanceTimersByTime(2_000);
  await vi.waitFor(() => expect(youngBytes()).toBeLessThan(8 * 2 ** 20));
  heap.close();
  vi.advanceTimersByTime(10_000);
  expect(asked).toBe(7);
});
