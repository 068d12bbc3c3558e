/** Bytes of one element by the format's name for its type. */
const BYTES: ReadonlyMap<string, number> = new Map([
  ["BOOL", 1],
  ["U8", 1],
  ["I8", 1],
  ["F8_E4M3", 1],
  ["F8_E5M2", 1],
  ["U16", 2],
  ["I16", 2],
  ["F16", 2],
  ["BF16", 2],
  ["U32", 4],
  ["I32", 4],
  ["F32", 4],
  ["U64", 8],
  ["I64", 8],
  ["F64", 8],
]);

/** Bytes of one element, or null for a type that is not known. */
export function bytesOfElement(type: string): number | null {
  return BYTES.get(type) ?? null;
}

/** Turns little-endian elements into 32-bit floats, exactly. Both arrays hold the same number of elements. */
type Decode = (bits: Uint16Array, into: Float32Array) => void;

/** The decoders of the 16-bit types of which every value is a 32-bit float as well. */
export const DECODE_16: ReadonlyMap<string, Decode> = new Map([
  ["F16", decodeHalf],
  ["BF16", decodeBrain],
]);

/** BF16 is the upper half of a 32-bit float. */
function decodeBrain(bits: Uint16Array, into: Float32Array): void {
  const words = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
}

/** IEEE 754 binary16: 1 sign bit, 5 of the exponent, 10 of the fraction. */
function decodeHalf(bits: Uint16Array, into: Float32Array): void {
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i]!;
    const exponent = (half >>> 10) & 0x1f;
    const fraction = half & 0x3ff;
    const magnitude =
      exponent === 0
        ? fraction * 2 ** -24
        : exponent === 0x1f
          ? fraction === 0
            ? Number.POSITIVE_INFINITY
            : Number.NaN
          : (1 + fraction / 1024) * 2 ** (exponent - 15);
    into[i] = half & 0x8000 ? -magnitude : magnitude;
  }
}
