/** Bytes of one element of a tensor, by its type. */
export const F32 = 4;
export const F16 = 2;
export const I32 = 4;
export const I64 = 8;
