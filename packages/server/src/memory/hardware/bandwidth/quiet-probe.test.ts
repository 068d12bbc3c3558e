import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Bandwidths } from "../../machine.js";
import type { ProbeOptions } from "./probe.js";
import { QuietProbe } from "./quiet-probe.js";

const NOTHING: Bandwidths = { diskToHost: null, hostToDevice: null, host: null };
const MEASURED: Bandwidths = { diskToHost: 2e9, hostToDevice: null, host: 2e10 };

let quiet: boolean;
let kept: Bandwidths;
let probes: ProbeOptions[];
let answer: (options: ProbeOptions) => Promise<Bandwidths>;
let failures: unknown[];
let probe: QuietProbe;
const told = vi.fn();
beforeEach(() => {
  vi.useFakeTimers();
  told.mockClear();
  quiet = true;
  kept = NOTHING;
  probes = [];
  failures = [];
  answer = async () => MEASURED;
  probe = new QuietProbe({
    machine: () => ({}) as ProbeOptions["machine"],
    folder: "/models",
    cacheDir: "/cache",
    isQuiet: () => quiet,
    onMeasured: told,
    onFailure: (error) => failures.push(error),
    kept: async () => kept,
    probe: (options) => {
      probes.push(options);
      return answer(options);
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await probe.close();
});

it("what is kept is known at once, and is not measured again", async () => {
  kept = MEASURED;
  await probe.recall();
  expect(probe.latest()).toEqual(MEASURED);
  expect(told).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(probes).toEqual([]);
});

it("what is missing is measured once, when nothing has gone on for a while", async () => {
  await probe.recall();
  expect(told).not.toHaveBeenCalled();
  quiet = false;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(probes).toEqual([]);
  quiet = true;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(probes).toEqual([]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(probe.latest()).toEqual(MEASURED);
  expect(told).toHaveBeenCalledExactlyOnceWith(MEASURED);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(probes).toHaveLength(1);
});

it("stops as soon as somebody wants something, and tries again later", async () => {
  answer = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(probes[0]!.signal.aborted).toBe(false);
  quiet = false;
  await vi.advanceTimersByTimeAsync(20);
  expect(probes[0]!.signal.aborted).toBe(true);
  quiet = true;
  answer = async () => MEASURED;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(probe.latest()).toEqual(MEASURED);
  expect(failures).toEqual([]);
});

it("what could not be measured is tried again, not too often", async () => {
  answer = async () => ({ ...MEASURED, diskToHost: null });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(probes.length).toBeGreaterThan(3);
  expect(probes.length).toBeLessThan(8);
  expect(probe.latest().host).toBe(2e10);
});

it("a measurement that fails is told", async () => {
  answer = () => Promise.reject(new Error("no disk"));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(failures).toEqual([new Error("no disk")]);
});
