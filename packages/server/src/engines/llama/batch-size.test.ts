import { describe, expect, it } from "vitest";
import { batchSize, PrefillRates } from "./batch-size.js";

describe("batchSize", () => {
  it("starts by the kind of machine", () => {
    expect(batchSize(undefined, false)).toBe(128);
    expect(batchSize(undefined, true)).toBe(2048);
  });

  it.each([
    [1, 64],
    [100, 64],
    [228, 128],
    [640, 256],
    [1300, 512],
    [5120, 2048],
    [100_000, 2048],
  ])("comes nearest to 400 ms at %i tokens a second", (rate, batch) => {
    expect(batchSize(rate, false)).toBe(batch);
  });
});

describe("PrefillRates", () => {
  it("learns from prompts long enough to tell", () => {
    const rates = new PrefillRates();
    rates.observe("m", 6, 1500);
    expect(rates.of("m")).toBeUndefined();
    rates.observe("m", 500, 1000);
    expect(rates.of("m")).toBe(500);
    rates.observe("m", 1000, 1000);
    expect(rates.of("m")).toBeGreaterThan(500);
    expect(rates.of("m")).toBeLessThan(1000);
    expect(rates.of("other")).toBeUndefined();
  });

  it("passes over what cannot be a duration", () => {
    const rates = new PrefillRates();
    rates.observe("m", 500, 0);
    rates.observe("m", 500, Number.NaN);
    expect(rates.of("m")).toBeUndefined();
  });
});
