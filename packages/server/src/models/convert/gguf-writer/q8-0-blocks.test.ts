import { expect, test } from "vitest";
import { elementType } from "./element-type.js";
import { halfBits } from "./half.js";

const Q8_0 = elementType("Q8_0");

function encoded(values: number[]): { scale: number; steps: number[] } {
  const into = new Uint8Array(Q8_0.blockBytes);
  const block = Float32Array.from({ length: 32 }, (_, i) => values[i] ?? 0);
  Q8_0.encode(block, into);
  return { scale: into[0]! | (into[1]! << 8), steps: [...new Int8Array(into.buffer, 2)] };
}

test("the largest magnitude becomes 127 steps, the others follow", () => {
  const { scale, steps } = encoded([127, -127, 63, -1, 0]);
  expect(scale).toBe(halfBits(1));
  expect(steps.slice(0, 6)).toEqual([127, -127, 63, -1, 0, 0]);
});

test("half a step is rounded away from zero", () => {
  expect(encoded([127, 2.5, -2.5, 0.5, -0.5, 0.49]).steps.slice(0, 6)).toEqual([
    127, 3, -3, 1, -1, 0,
  ]);
});

test("a block of zeros has the scale 0", () => {
  expect(encoded([])).toEqual({ scale: 0, steps: new Array(32).fill(0) });
});

test("the steps are counted with the exact scale, not with the stored one", () => {
  // 0.3 / 127 is no half: counted with its rounding, the largest value would get 126 or 128 steps.
  const { scale, steps } = encoded([0.3, 0.15]);
  expect(scale).toBe(halfBits(Math.fround(Math.fround(0.3) / 127)));
  expect(steps.slice(0, 2)).toEqual([127, 64]);
});

test("each block has its own scale", () => {
  const into = new Uint8Array(2 * Q8_0.blockBytes);
  Q8_0.encode(new Float32Array(64).fill(127, 0, 32).fill(254, 32), into);
  expect([into[1], into[35]]).toEqual([halfBits(1) >> 8, halfBits(2) >> 8]);
});
