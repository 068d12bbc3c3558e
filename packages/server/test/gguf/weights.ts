import type { GgufTensorSource } from "./write-gguf.js";

/** Makes the values of a tensor of `count` elements. */
export type Fill = (count: number) => Float32Array;

export const zeros: Fill = (count) => new Float32Array(count);
export const ones: Fill = (count) => new Float32Array(count).fill(1);

/** Pseudo-random values between -spread and spread, the same ones for the same seed (mulberry32). */
export function scattered(spread: number, seed: number): Fill {
  return (count) => {
    const next = randomFrom(seed);
    return Float32Array.from({ length: count }, () => (next() * 2 - 1) * spread);
  };
}

/** A generator of numbers from 0 to below 1, the same sequence for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A matrix in F16 or a vector in F32, which engines want for norms and biases. */
export function tensor(name: string, shape: readonly number[], fill: Fill): GgufTensorSource {
  return { name, shape, type: shape.length === 1 ? "F32" : "F16", values: fill(elementsOf(shape)) };
}

/** A tensor in F32 of any shape, for those that engines add to activations. */
export function exactTensor(name: string, shape: readonly number[], fill: Fill): GgufTensorSource {
  return { name, shape, type: "F32", values: fill(elementsOf(shape)) };
}

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
