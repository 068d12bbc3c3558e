import { writeFile } from "node:fs/promises";

/** A metadata value with the type it is stored as. */
export type GgufValue =
  | { readonly type: GgufNumberType; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "array"; readonly of: GgufNumberType; readonly values: readonly number[] }
  | { readonly type: "array"; readonly of: "bool"; readonly values: readonly boolean[] }
  | { readonly type: "array"; readonly of: "string"; readonly values: readonly string[] };

export type GgufNumberType =
  | "u8"
  | "i8"
  | "u16"
  | "i16"
  | "u32"
  | "i32"
  | "f32"
  | "u64"
  | "i64"
  | "f64";

/** A tensor: its shape begins with the row length; `values` has one number an element. */
export interface GgufTensorSource {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: "F32" | "F16";
  readonly values: Float32Array;
}

/** A tensor of a type that the writer cannot encode: its number and its bytes as they shall stand. */
export interface GgufRawTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly typeNumber: number;
  readonly data: Uint8Array;
}

export interface GgufSource {
  /** 3 where absent. */
  readonly version?: number;
  readonly metadata: readonly (readonly [string, GgufValue])[];
  readonly tensors: readonly (GgufTensorSource | GgufRawTensor)[];
  /** 32 where absent; the caller adds `general.alignment` itself. */
  readonly alignment?: number;
}

const TYPE_NUMBERS = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

export const u32 = (value: number): GgufValue => ({ type: "u32", value });
export const f32 = (value: number): GgufValue => ({ type: "f32", value });
export const bool = (value: boolean): GgufValue => ({ type: "bool", value });
export const string = (value: string): GgufValue => ({ type: "string", value });

/** The file's bytes, little-endian, by docs/gguf.md of the ggml project. */
export function encodeGguf(source: GgufSource): Buffer {
  const alignment = source.alignment ?? 32;
  const header = new ByteList();
  header.add(Buffer.from("GGUF", "latin1"));
  header.number("u32", source.version ?? 3);
  header.number("u64", source.tensors.length);
  header.number("u64", source.metadata.length);
  for (const [key, value] of source.metadata) {
    header.string(key);
    header.number("u32", TYPE_NUMBERS[value.type]);
    header.value(value);
  }
  const data = new ByteList();
  for (const tensor of source.tensors) {
    data.pad(alignment);
    header.string(tensor.name);
    header.number("u32", tensor.shape.length);
    for (const size of tensor.shape) header.number("u64", size);
    header.number("u32", typeNumberOf(tensor));
    header.number("u64", data.length);
    data.add(dataOf(tensor));
  }
  header.pad(alignment);
  return Buffer.concat([header.bytes(), data.bytes()]);
}

/** Writes `encodeGguf(source)` to `path`. */
export async function writeGguf(path: string, source: GgufSource): Promise<void> {
  await writeFile(path, encodeGguf(source));
}

function typeNumberOf(tensor: GgufTensorSource | GgufRawTensor): number {
  if ("typeNumber" in tensor) return tensor.typeNumber;
  return tensor.type === "F32" ? 0 : 1;
}

function dataOf(tensor: GgufTensorSource | GgufRawTensor): Uint8Array {
  if ("data" in tensor) return tensor.data;
  const elements = tensor.shape.reduce((product, size) => product * size, 1);
  if (elements !== tensor.values.length) {
    throw new RangeError(`${tensor.name}: ${tensor.values.length} values for ${elements} elements`);
  }
  const bytes = Buffer.alloc(elements * (tensor.type === "F32" ? 4 : 2));
  tensor.values.forEach((value, i) => {
    if (tensor.type === "F32") bytes.writeFloatLE(value, i * 4);
    else bytes.writeUInt16LE(halfPrecisionBits(value), i * 2);
  });
  return bytes;
}

/** IEEE 754 binary16 of a number, rounded towards zero; what is too small becomes 0. */
function halfPrecisionBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude < 2 ** -14) return sign;
  const exponent = Math.floor(Math.log2(magnitude));
  if (exponent > 15) throw new RangeError(`${value} does not fit into 16 bits`);
  const fraction = Math.floor((magnitude / 2 ** exponent - 1) * 1024);
  return sign | ((exponent + 15) << 10) | fraction;
}

/** Bytes that are appended to and joined at the end. */
class ByteList {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.length += bytes.length;
  }

  pad(alignment: number): void {
    const over = this.length % alignment;
    if (over > 0) this.add(Buffer.alloc(alignment - over));
  }

  string(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    this.number("u64", bytes.length);
    this.add(bytes);
  }

  number(type: GgufNumberType, value: number): void {
    this.add(encodeNumber(type, value));
  }

  value(value: GgufValue): void {
    if (value.type === "array") {
      this.number("u32", TYPE_NUMBERS[value.of]);
      this.number("u64", value.values.length);
      if (value.of === "string") for (const entry of value.values) this.string(entry);
      else if (value.of === "bool")
        for (const entry of value.values) this.number("u8", entry ? 1 : 0);
      else for (const entry of value.values) this.number(value.of, entry);
    } else if (value.type === "string") {
      this.string(value.value);
    } else if (value.type === "bool") {
      this.number("u8", value.value ? 1 : 0);
    } else {
      this.number(value.type, value.value);
    }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function encodeNumber(type: GgufNumberType, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  const write: Record<GgufNumberType, () => number> = {
    u8: () => bytes.writeUInt8(value),
    i8: () => bytes.writeInt8(value),
    u16: () => bytes.writeUInt16LE(value),
    i16: () => bytes.writeInt16LE(value),
    u32: () => bytes.writeUInt32LE(value),
    i32: () => bytes.writeInt32LE(value),
    f32: () => bytes.writeFloatLE(value),
    u64: () => bytes.writeBigUInt64LE(BigInt(value)),
    i64: () => bytes.writeBigInt64LE(BigInt(value)),
    f64: () => bytes.writeDoubleLE(value),
  };
  return bytes.subarray(0, write[type]());
}
