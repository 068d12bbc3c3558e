import { halfBits } from "./half.js";

/** How the elements of a tensor are stored. */
export interface ElementType {
  /** As people write it. */
  readonly name: string;
  /** Its number in a tensor's description: `enum ggml_type` in llama.cpp's ggml.h. */
  readonly number: number;
  /** Its number as `general.file_type`: `enum llama_ftype` in llama.cpp's llama.h. */
  readonly fileType: number;
  /** Elements that are stored together; rows must be a multiple of them. */
  readonly blockElements: number;
  readonly blockBytes: number;
  /** Larger magnitudes cannot be stored. */
  readonly largest: number;
  /** Encodes whole blocks. `into` has room for exactly their bytes and begins at an even address. */
  encode(values: Float32Array, into: Uint8Array): void;
}

/** Largest finite number of IEEE 754 binary16. */
const LARGEST_HALF = 65_504;

const F32: ElementType = {
  name: "F32",
  number: 0,
  fileType: 0,
  blockElements: 1,
  blockBytes: 4,
  largest: Number.POSITIVE_INFINITY,
  encode(values, into) {
    into.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  },
};

const F16: ElementType = {
  name: "F16",
  number: 1,
  fileType: 1,
  blockElements: 1,
  blockBytes: 2,
  largest: LARGEST_HALF,
  encode(values, into) {
    const halves = new Uint16Array(into.buffer, into.byteOffset, values.length);
    for (let i = 0; i < values.length; i++) halves[i] = halfBits(values[i]!);
  },
};

const Q8_BLOCK = 32;
const Q8_STEPS = 127;

/**
 * Blocks of 32: the scale as a half-precision float, then one signed byte an element. The arithmetic is
 * that of `quantize_row_q8_0_ref` in llama.cpp's ggml-quants.c, in 32-bit floats, so that the bytes are too.
 */
const Q8_0: ElementType = {
  name: "Q8_0",
  number: 8,
  fileType: 7,
  blockElements: Q8_BLOCK,
  blockBytes: 2 + Q8_BLOCK,
  largest: LARGEST_HALF * Q8_STEPS,
  encode(values, into) {
    let at = 0;
    for (let block = 0; block < values.length; block += Q8_BLOCK) {
      let largest = 0;
      for (let i = block; i < block + Q8_BLOCK; i++) {
        largest = Math.max(largest, Math.abs(values[i]!));
      }
      const scale = Math.fround(largest / Q8_STEPS);
      const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
      const half = halfBits(scale);
      into[at++] = half & 0xff;
      into[at++] = half >>> 8;
      for (let i = block; i < block + Q8_BLOCK; i++) {
        into[at++] = roundedAwayFromZero(Math.fround(values[i]! * inverse));
      }
    }
  },
};

/** `roundf` of C: `Math.round` takes -0.5 upwards. */
function roundedAwayFromZero(value: number): number {
  const magnitude = Math.floor(Math.abs(value) + 0.5);
  return value < 0 ? -magnitude : magnitude;
}

const TYPES = { F32, F16, Q8_0 } as const;

/** Names of the types that can be written. */
export type ElementTypeName = keyof typeof TYPES;

export function elementType(name: ElementTypeName): ElementType {
  return TYPES[name];
}
