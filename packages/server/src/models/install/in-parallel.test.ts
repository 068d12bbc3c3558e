import { expect, it } from "vitest";
import { inParallel } from "./in-parallel.js";

const never = new AbortController().signal;
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

it("has no more under way than it may, and begins them in their order", async () => {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const all = inParallel([1, 2, 3, 4], 2, never, async (item) => {
    begun.push(item);
    await new Promise<void>((resolve) => ends.set(item, resolve));
  });
  expect(begun).toEqual([1, 2]);
  ends.get(2)!();
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  ends.get(1)!();
  await expect.poll(() => begun).toEqual([1, 2, 3, 4]);
  ends.get(3)!();
  ends.get(4)!();
  await all;
});

it("cancels the others when one fails, waits for them, and throws what that one threw", async () => {
  let cleanedUp = false;
  const begun: number[] = [];
  const all = inParallel([1, 2, 3], 2, never, async (item, signal) => {
    begun.push(item);
    if (item === 2) throw new Error("two is broken");
    await aborted(signal).catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    cleanedUp = true;
    signal.throwIfAborted();
  });
  await expect(all).rejects.toThrow("two is broken");
  expect([cleanedUp, begun]).toEqual([true, [1, 2]]);
});

it("ends with the reason of the signal when that is aborted", async () => {
  const abort = new AbortController();
  const all = inParallel([1, 2], 2, abort.signal, async (_, signal) => aborted(signal));
  abort.abort(new Error("enough"));
  await expect(all).rejects.toThrow("enough");
  await expect(inParallel([1], 1, abort.signal, async () => {})).rejects.toThrow("enough");
});
