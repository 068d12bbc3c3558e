import { expect, it } from "vitest";
import { untilReleased } from "./device-release.js";
import type { MemoryState } from "./scheduling/index.js";

const GiB = 2 ** 30;
const never = new AbortController().signal;

/** A state in which so much of each device is used by nobody known. */
function state(...unaccounted: number[]): MemoryState {
  const devices = unaccounted.map((unaccountedBytes, at) => ({
    name: `device ${at}`,
    bytes: 24 * GiB,
    unaccountedBytes,
  }));
  return { budgets: { devices } } as unknown as MemoryState;
}

/** Gives one state after the other, the last again and again. */
function readings(...states: MemoryState[]) {
  let asked = 0;
  return {
    asked: () => asked,
    measure: async () => states[Math.min(asked++, states.length - 1)]!,
  };
}

it("is not waited for where there is no device, or nothing was planned", async () => {
  const { measure, asked } = readings(state());
  expect(await untilReleased(state(), measure, never)).toBeNull();
  expect(await untilReleased(null, measure, never)).toBeNull();
  expect(asked()).toBe(0);
});

it("is waited for until the device agrees", async () => {
  const last = state(1 * GiB, 0);
  const { measure, asked } = readings(state(9 * GiB, 0), state(4 * GiB, 0), last);
  expect(await untilReleased(state(1 * GiB, 0), measure, never)).toBe(last);
  expect(asked()).toBe(3);
});

it("is not waited for longer than two seconds: then the device's number counts", async () => {
  const held = state(9 * GiB);
  const begin = performance.now();
  expect(await untilReleased(state(1 * GiB), readings(held).measure, never)).toBe(held);
  const took = performance.now() - begin;
  expect(took).toBeGreaterThan(1_900);
  expect(took).toBeLessThan(4_000);
});

it("is not waited for by a reading that hangs, or by a server that ends", async () => {
  const hangs = (signal: AbortSignal) =>
    new Promise<MemoryState>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  expect(await untilReleased(state(0), hangs, never)).toBeNull();
  const closing = new AbortController();
  const waiting = untilReleased(state(0), readings(state(9 * GiB)).measure, closing.signal);
  closing.abort(new Error("The server is shutting down."));
  expect(await waiting).toMatchObject({ budgets: { devices: [{ unaccountedBytes: 9 * GiB }] } });
});

it("tells what keeps the device from being read", async () => {
  const broken = async () => {
    throw new Error("no device answers");
  };
  await expect(untilReleased(state(0), broken, never)).rejects.toThrow("no device answers");
});
