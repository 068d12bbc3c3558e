import { expect, test } from "vitest";
import type { ExitReason } from "../../engine.js";
import {
  afterDeath,
  afterReady,
  DEATHS_OF_A_LOOP,
  type Death,
  isLoop,
  LOOP_WINDOW_MS,
  mayBlameBuild,
} from "./crash-policy.js";

const exit = (reason: Partial<ExitReason>): ExitReason => ({
  ...{ kind: "failed", message: "The engine ended.", code: null, signal: null, log: [] },
  ...reason,
});

test("crashes and missing libraries may be the build's fault", () => {
  expect(mayBlameBuild(exit({ kind: "signal", signal: "SIGILL" }))).toBe(true);
  expect(mayBlameBuild(exit({ kind: "signal", signal: "SIGSEGV" }))).toBe(true);
  expect(mayBlameBuild(exit({ kind: "signal", signal: "SIGABRT" }))).toBe(true);
  // On Windows a crash has a code and no signal.
  expect(mayBlameBuild(exit({ kind: "signal", code: 0xc0000005 }))).toBe(true);
  expect(mayBlameBuild(exit({ kind: "missing_library", code: 127 }))).toBe(true);
  expect(mayBlameBuild(exit({ code: 1, log: ["error: invalid argument: --kv-unified"] }))).toBe(
    true,
  );
});

test("want of memory, a bad file, a kill from outside and an ordered end are not", () => {
  expect(mayBlameBuild(exit({ kind: "out_of_memory", signal: "SIGKILL" }))).toBe(false);
  expect(mayBlameBuild(exit({ kind: "bad_file", code: 1 }))).toBe(false);
  expect(mayBlameBuild(exit({ kind: "signal", signal: "SIGKILL" }))).toBe(false);
  expect(mayBlameBuild(exit({ kind: "signal", signal: "SIGTERM" }))).toBe(false);
  expect(mayBlameBuild(exit({ kind: "timed_out" }))).toBe(false);
  expect(mayBlameBuild(exit({ kind: "closed" }))).toBe(false);
  expect(mayBlameBuild(exit({ code: 1 }))).toBe(false);
});

function after(deaths: readonly Death[]): Death[] {
  return deaths.reduce<Death[]>((counted, death) => afterDeath(counted, death), []);
}

const deathsAt = (phase: Death["phase"], ...times: number[]): Death[] =>
  times.map((at) => ({ phase, at }));

test("deaths in a row are a loop, from the third on", () => {
  expect(isLoop(after(deathsAt("load", 0, 1)))).toBe(false);
  expect(isLoop(after(deathsAt("load", 0, 1, 2)))).toBe(true);
  expect(DEATHS_OF_A_LOOP).toBe(3);
});

test("deaths long ago do not count", () => {
  expect(isLoop(after(deathsAt("run", 0, 1, LOOP_WINDOW_MS + 2)))).toBe(false);
});

test("a load that works forgives the loads before it, not the crashes while running", () => {
  expect(afterReady(after(deathsAt("load", 0, 1)))).toEqual([]);
  expect(afterReady(deathsAt("run", 0, 1))).toHaveLength(2);
});
