const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** Bits of the smallest normal half-precision number, 2^-14, as a 32-bit float. */
const SMALLEST_NORMAL = 0x3880_0000;
/** Bits of 65536 as a 32-bit float: from here on nothing rounds to a finite half. */
const TOO_LARGE = 0x4780_0000;
const INFINITY = 0x7c00;
/** Difference of the exponents' biases, 127 and 15, in the exponent's place. */
const REBIAS = (127 - 15) << 23;
/** Bits of 0.5, whose unit in the last place is that of the subnormal halves: 2^-24. */
const HALF_BITS = 0x3f00_0000;

/**
 * IEEE 754 binary16 of a 32-bit float, rounded to nearest, ties to even; subnormals are kept. What is
 * too large becomes infinity, and so does NaN, which the caller has refused.
 *
 * Both roundings are done by carries: of the fraction into the exponent for normal numbers, and of
 * an addition of 0.5 for subnormal ones (Fabian Giesen, "Half to float done quick", 2012).
 */
export function halfBits(value: number): number {
  float[0] = value;
  const sign = (bits[0]! >>> 16) & 0x8000;
  const magnitude = bits[0]! & 0x7fff_ffff;
  if (magnitude >= TOO_LARGE) return sign | INFINITY;
  if (magnitude >= SMALLEST_NORMAL) {
    const odd = (magnitude >>> 13) & 1;
    return sign | ((magnitude - REBIAS + 0x0fff + odd) >>> 13);
  }
  float[0] = Math.abs(value) + 0.5;
  return sign | (bits[0]! - HALF_BITS);
}
