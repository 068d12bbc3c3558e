import { SomnusError } from "../../http/errors.js";

/**
 * Blocks of the types that a KV memory may have: elements and bytes of one, by llama.cpp's names
 * (`kv_cache_types` in its common/arg.cpp; block structures in ggml-common.h).
 */
const CACHE_TYPES: Readonly<Record<string, readonly [elements: number, bytes: number]>> = {
  f32: [1, 4],
  f16: [1, 2],
  bf16: [1, 2],
  q8_0: [32, 34],
  q4_0: [32, 18],
  q4_1: [32, 20],
  iq4_nl: [32, 18],
  q5_0: [32, 22],
  q5_1: [32, 24],
};

/**
 * Bytes of one row of a KV memory: whole blocks (`ggml_row_size`, `ggml_new_tensor_impl` of ggml.c).
 *
 * @param type as llama.cpp spells it: "f16", "q8_0"
 * @throws SomnusError `invalid_request` for a type that no KV memory has
 */
export function cacheRowBytes(type: string, elements: number): number {
  const block = CACHE_TYPES[type];
  if (block === undefined) {
    throw new SomnusError(
      "invalid_request",
      `There is no KV cache type "${type}"; use one of ${Object.keys(CACHE_TYPES).join(", ")}.`,
    );
  }
  return Math.ceil(elements / block[0]) * block[1];
}

/** Whether rows of this type are stored in blocks of several elements. */
export function isQuantized(type: string): boolean {
  return (CACHE_TYPES[type]?.[0] ?? 1) > 1;
}
