import type { GgufValue } from "./values.js";

/** Value types by their number in the file: `gguf_metadata_value_type` in docs/gguf.md of the ggml project. */
const TYPE_NUMBERS = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;

const FIRST_BYTES = 64 * 1024;

/** Little-endian bytes that are appended to. */
export class HeaderBytes {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was appended so far, as a view. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  u32(value: number): void {
    this.#grow(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  u64(value: number): void {
    this.#grow(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt(value), this.#length);
  }

  /** UTF-8 with its length before it. */
  string(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.u64(bytes);
    this.#grow(bytes);
    this.#length += this.#bytes.write(text, this.#length);
  }

  zeros(count: number): void {
    this.#grow(count);
    this.#bytes.fill(0, this.#length, this.#length + count);
    this.#length += count;
  }

  /** The value with its type before it. */
  value(value: GgufValue): void {
    switch (value.type) {
      case "u32":
        this.u32(TYPE_NUMBERS.u32);
        this.u32(value.value);
        return;
      case "f32":
        this.u32(TYPE_NUMBERS.f32);
        this.#grow(4);
        this.#length = this.#bytes.writeFloatLE(value.value, this.#length);
        return;
      case "bool":
        this.u32(TYPE_NUMBERS.bool);
        this.#grow(1);
        this.#length = this.#bytes.writeUInt8(value.value ? 1 : 0, this.#length);
        return;
      case "string":
        this.u32(TYPE_NUMBERS.string);
        this.string(value.value);
        return;
      case "strings":
        this.#array(TYPE_NUMBERS.string, value.value.length);
        for (const entry of value.value) this.string(entry);
        return;
      case "i32s":
        this.#array(TYPE_NUMBERS.i32, value.value.length);
        this.#grow(4 * value.value.length);
        for (const entry of value.value) {
          this.#length = this.#bytes.writeInt32LE(entry, this.#length);
        }
    }
  }

  #array(of: number, count: number): void {
    this.u32(TYPE_NUMBERS.array);
    this.u32(of);
    this.u64(count);
  }

  #grow(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
