import type { ElementType } from "./element-type.js";
import { HeaderBytes } from "./header-bytes.js";
import type { GgufValue } from "./values.js";

/** A tensor to write. */
export interface GgufTensor {
  readonly name: string;
  /** Row length first; the row length is a multiple of the type's block. */
  readonly dimensions: readonly number[];
  readonly type: ElementType;
  /** Its values in order; each piece holds whole blocks and is used up before the next is taken. */
  values(signal: AbortSignal): AsyncIterable<Float32Array>;
}

/** A file whose every byte has its place before the first is written. */
export interface GgufLayout {
  /** Up to the first tensor's data. */
  readonly header: Buffer;
  /** With the bytes of each one's data. */
  readonly tensors: readonly { readonly tensor: GgufTensor; readonly bytes: number }[];
  /** Elements of all tensors. */
  readonly elements: number;
  /** Bytes of all tensors' data, without what lies between them. */
  readonly tensorBytes: number;
  /** Bytes of the file. */
  readonly size: number;
}

const VERSION = 3;
/** The format's default; the file need not name it. */
const ALIGNMENT = 32;

/** Zero bytes that bring a length to the next aligned place. */
export function padding(length: number): number {
  return (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;
}

/** Lays a file out by docs/gguf.md of the ggml project, version 3, little-endian, in the order given. */
export function layOut(
  metadata: readonly (readonly [string, GgufValue])[],
  tensors: readonly GgufTensor[],
): GgufLayout {
  const header = new HeaderBytes();
  header.u32(MAGIC);
  header.u32(VERSION);
  header.u64(tensors.length);
  header.u64(metadata.length);
  for (const [key, value] of metadata) {
    header.string(key);
    header.value(value);
  }
  let offset = 0;
  let elements = 0;
  let tensorBytes = 0;
  const placed = tensors.map((tensor) => {
    const count = tensor.dimensions.reduce((product, size) => product * size, 1);
    const bytes = (count / tensor.type.blockElements) * tensor.type.blockBytes;
    header.string(tensor.name);
    header.u32(tensor.dimensions.length);
    for (const size of tensor.dimensions) header.u64(size);
    header.u32(tensor.type.number);
    header.u64(offset);
    offset += bytes + padding(bytes);
    elements += count;
    tensorBytes += bytes;
    return { tensor, bytes };
  });
  header.zeros(padding(header.length));
  return {
    header: header.bytes,
    tensors: placed,
    elements,
    tensorBytes,
    size: header.length + offset,
  };
}

/** "GGUF" read as a little-endian number. */
const MAGIC = 0x4655_4747;
