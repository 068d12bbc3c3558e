import { expect, test } from "vitest";
import { halfBits } from "./half.js";

/** The number that 16 bits of IEEE 754 stand for. */
function numberOf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

const LARGEST = 0x7bff;

test("every finite half is kept, subnormal ones and both zeros included", () => {
  for (let bits = 0; bits <= LARGEST; bits++) {
    if (halfBits(numberOf(bits)) !== bits) throw new Error(`${bits}`);
    if (halfBits(-numberOf(bits)) !== (bits | 0x8000)) throw new Error(`-${bits}`);
  }
});

test("what lies between two halves goes to the nearer one, and to the even one from the middle", () => {
  const float = new Float32Array(1);
  const word = new Uint32Array(float.buffer);
  const neighbour = (value: number, step: 1 | -1) => {
    float[0] = value;
    word[0]! += step;
    return float[0]!;
  };
  for (let low = 0; low < LARGEST; low++) {
    const middle = (numberOf(low) + numberOf(low + 1)) / 2;
    const found = [neighbour(middle, -1), middle, neighbour(middle, 1)].map(halfBits);
    const even = low % 2 === 0 ? low : low + 1;
    if (found.join() !== [low, even, low + 1].join()) throw new Error(`${low}: ${found}`);
  }
});

test.each([
  [1, 0x3c00],
  [-2, 0xc000],
  [65_504, 0x7bff],
  [65_519, 0x7bff],
  [65_520, 0x7c00],
  [1e30, 0x7c00],
  [-1e30, 0xfc00],
  [Number.POSITIVE_INFINITY, 0x7c00],
  [2 ** -24, 0x0001],
  [2 ** -25, 0x0000],
  [2 ** -149, 0x0000],
  [0.1, 0x2e66],
])("%d has the bits that IEEE 754 gives it", (value, bits) => {
  expect(halfBits(value)).toBe(bits);
});
