import { expect, it } from "vitest";
import { memoryBytesPerSecond } from "./memory-speed.js";

const GiB = 2 ** 30;
const never = new AbortController().signal;

it("is measured, and what it took is given back at once", async () => {
  const before = process.memoryUsage().rss;
  const speed = await memoryBytesPerSecond(16 * GiB, never);
  expect(speed).toBeGreaterThan(1e8);
  expect(speed).toBeLessThan(1e12);
  // It works on 128 MiB.
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
});

it("is not measured where memory is short", async () => {
  expect(await memoryBytesPerSecond(GiB / 2, never)).toBeNull();
});

it("lets others have their turn", async () => {
  let turns = 0;
  let done = false;
  const count = () => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await memoryBytesPerSecond(null, never);
  done = true;
  expect(turns).toBeGreaterThan(20);
});

it("stops when it is called off", async () => {
  const caller = new AbortController();
  const measuring = memoryBytesPerSecond(null, caller.signal);
  caller.abort(new Error("off"));
  await expect(measuring).rejects.toThrow("off");
});
