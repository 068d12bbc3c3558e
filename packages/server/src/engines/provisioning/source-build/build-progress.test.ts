import { expect, test } from "vitest";
import { BuildProgress, readBuildStep } from "./build-progress.js";

test("steps are read from ninja and from make, and from nothing else", () => {
  expect(readBuildStep("[12/208] Building CXX object a.o")).toEqual({ done: 12, total: 208 });
  expect(readBuildStep("[ 42%] Building CXX object a.o")).toEqual({ done: 42, total: 100 });
  expect(readBuildStep("warning: [12/208]")).toBeNull();
});

test("rate and remaining time appear when they mean something, and follow the last minute", () => {
  let now = 0;
  const progress = new BuildProgress("building", () => now);
  expect(progress.after({ done: 1, total: 200 })).toEqual({
    ...{ step: "building", done: 1, total: 200, unit: "steps" },
  });
  now = 10_000;
  expect(progress.after({ done: 11, total: 200 })).toMatchObject({ rate: 1, etaSecs: 189 });
  for (let step = 12; step <= 100; step += 1) {
    now += 2_000;
    progress.after({ done: step, total: 200 });
  }
  now += 2_000;
  const late = progress.after({ done: 101, total: 200 });
  expect(late.rate).toBeCloseTo(0.5, 2);
  expect(late.etaSecs).toBeCloseTo(198, 0);
});

test("one slow step does not throw the remaining time about", () => {
  let now = 0;
  const progress = new BuildProgress("building", () => now);
  for (let step = 1; step <= 30; step += 1) {
    now += 5_000;
    progress.after({ done: step, total: 100 });
  }
  now += 100_000;
  expect(progress.after({ done: 31, total: 100 }).etaSecs).toBeLessThan(800);
});
