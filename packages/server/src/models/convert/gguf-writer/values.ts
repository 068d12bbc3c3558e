/** A metadata value with the type it is stored as. */
export type GgufValue =
  | { readonly type: "u32" | "f32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "i32s"; readonly value: readonly number[] };

export const u32 = (value: number): GgufValue => ({ type: "u32", value });
export const f32 = (value: number): GgufValue => ({ type: "f32", value });
export const bool = (value: boolean): GgufValue => ({ type: "bool", value });
export const string = (value: string): GgufValue => ({ type: "string", value });
export const strings = (value: readonly string[]): GgufValue => ({ type: "strings", value });
export const i32s = (value: readonly number[]): GgufValue => ({ type: "i32s", value });
