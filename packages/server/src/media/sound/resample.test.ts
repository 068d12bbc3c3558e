import { describe, expect, it } from "vitest";
import { MODEL_RATE, Resampler } from "./resample.js";

const tone = (rate: number, hertz: number, seconds: number) =>
  Float32Array.from({ length: rate * seconds }, (_, at) =>
    Math.sin((2 * Math.PI * hertz * at) / rate),
  );

function resample(samples: Float32Array, rate: number, piece = samples.length): number[] {
  const resampler = new Resampler(rate);
  const made: number[] = [];
  for (let at = 0; at < samples.length; at += piece) {
    made.push(...resampler.add(samples.subarray(at, at + piece)));
  }
  made.push(...resampler.end());
  return made;
}

/** Root of the mean square, its ends left out. */
function loudness(samples: readonly number[]): number {
  const inner = samples.slice(200, -200);
  return Math.sqrt(inner.reduce((sum, sample) => sum + sample * sample, 0) / inner.length);
}

describe.each([8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 7_919])("from %d Hz", (rate) => {
  it("a tone is the same tone at the same time, sample for sample", () => {
    const made = resample(tone(rate, 440, 0.5), rate);
    const wanted = tone(MODEL_RATE, 440, 0.5);
    expect(Math.abs(made.length - wanted.length)).toBeLessThanOrEqual(1);
    for (let at = 200; at < wanted.length - 200; at++) {
      expect(Math.abs(made[at]! - wanted[at]!)).toBeLessThan(2e-3);
    }
  });

  it("the pieces in which it comes make no difference", () => {
    const samples = tone(rate, 700, 0.1);
    expect(resample(samples, rate, 37)).toEqual(resample(samples, rate));
  });
});

it("what 16 kHz cannot hold does not come back as another tone", () => {
  expect(loudness(resample(tone(48_000, 11_000, 0.2), 48_000))).toBeLessThan(1e-3);
  expect(loudness(resample(tone(48_000, 6_500, 0.2), 48_000))).toBeCloseTo(Math.SQRT1_2, 2);
});

it("16 kHz stay what they are", () => {
  const samples = tone(MODEL_RATE, 440, 0.1);
  expect(resample(samples, MODEL_RATE)).toEqual([...samples]);
});
