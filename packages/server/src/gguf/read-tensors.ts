import type { ByteCursor } from "./byte-cursor.js";
import { type GgmlType, ggmlType, removedGgmlType } from "./ggml-types.js";
import { grouped, quoted, type Refuse } from "./refusal.js";

/** One tensor of the file. */
export interface GgufTensor {
  readonly name: string;
  readonly type: GgmlType;
  /** Elements. */
  readonly elements: number;
  /** Stored size. */
  readonly bytes: number;
}

/** All tensors of a file and where their data lies. */
export interface TensorSection {
  readonly tensors: readonly GgufTensor[];
  /** Offset in the file of the first tensor's data. */
  readonly dataStart: number;
  /** Offset in the file behind the last tensor's data. */
  readonly dataEnd: number;
}

/** Real files have under 2,000 tensors. */
const MAX_TENSORS = 16_384;
/** Programs built on ggml keep at most 63 or 127 bytes of a name. */
const MAX_NAME_BYTES = 127;
const MAX_DIMENSIONS = 4;
/** Name length, number of dimensions, type number, offset. */
const MIN_TENSOR_BYTES = 8 + 4 + 4 + 8;

/**
 * Reads the list of tensors. As the engine demands, each one's data must begin where the data of
 * the one before it ends, rounded up to the alignment.
 *
 * @param count number of tensors as the file states it
 * @param alignment bytes, a power of two
 * @throws SomnusError `model_unavailable` for a list that the engine would refuse
 */
export async function readTensors(
  cursor: ByteCursor,
  count: number,
  alignment: number,
  refuse: Refuse,
): Promise<TensorSection> {
  if (count > MAX_TENSORS) {
    throw refuse(`its header is damaged: it announces ${grouped(count)} tensors`);
  }
  cursor.demand(count * MIN_TENSOR_BYTES);
  const tensors: GgufTensor[] = [];
  const names = new Set<string>();
  let nextOffset = 0;
  let end = 0;
  for (let i = 0; i < count; i++) {
    const name = await readName(cursor, refuse);
    if (names.has(name)) throw refuse(`its header is damaged: two tensors ${quoted(name)}`);
    names.add(name);
    const tensor = await readShape(cursor, name, refuse);
    const offset = await cursor.u64();
    if (offset !== nextOffset) {
      throw refuse(
        `its header is damaged: tensor ${quoted(name)} lies at ${grouped(offset)}, expected at ` +
          grouped(nextOffset),
      );
    }
    end = offset + tensor.bytes;
    nextOffset = roundUp(end, alignment);
    if (!Number.isSafeInteger(nextOffset)) throw tooLarge(name, refuse);
    tensors.push(tensor);
  }
  const dataStart = count === 0 ? cursor.position : roundUp(cursor.position, alignment);
  return { tensors, dataStart, dataEnd: dataStart + end };
}

async function readName(cursor: ByteCursor, refuse: Refuse): Promise<string> {
  const length = await cursor.u64();
  if (length > MAX_NAME_BYTES) {
    throw refuse(`its header is damaged: a tensor name of ${grouped(length)} bytes`);
  }
  return (await cursor.bytes(length)).toString("utf8");
}

async function readShape(cursor: ByteCursor, name: string, refuse: Refuse): Promise<GgufTensor> {
  const dimensions = await cursor.u32();
  if (dimensions > MAX_DIMENSIONS) {
    throw refuse(
      `its header is damaged: tensor ${quoted(name)} has ${grouped(dimensions)} dimensions`,
    );
  }
  let rowElements = 1;
  let elements = 1;
  for (let i = 0; i < dimensions; i++) {
    const size = await cursor.u64();
    if (i === 0) rowElements = size;
    // A size of 0 must not hide another one that is out of range.
    if (!Number.isSafeInteger(size)) throw tooLarge(name, refuse);
    elements *= size;
    if (!Number.isSafeInteger(elements)) throw tooLarge(name, refuse);
  }
  const type = knownType(await cursor.u32(), name, refuse);
  if (rowElements % type.blockElements !== 0) {
    throw refuse(
      `its header is damaged: rows of tensor ${quoted(name)} have ${grouped(rowElements)} ` +
        `elements, not a multiple of ${type.blockElements} as ${type.name} needs`,
    );
  }
  const bytes = (elements / type.blockElements) * type.blockBytes;
  if (!Number.isSafeInteger(bytes)) throw tooLarge(name, refuse);
  return { name, type, elements, bytes };
}

function knownType(number: number, tensorName: string, refuse: Refuse): GgmlType {
  const type = ggmlType(number);
  if (type) return type;
  const removed = removedGgmlType(number);
  throw refuse(
    removed
      ? `tensor ${quoted(tensorName)} has the type ${removed} (${number}), which llama.cpp no ` +
          "longer reads; take a newer file of this model"
      : `tensor ${quoted(tensorName)} has the unknown type ${number}; the file is damaged or ` +
          "newer than this server",
  );
}

function tooLarge(name: string, refuse: Refuse): Error {
  return refuse(`its header is damaged: tensor ${quoted(name)} is larger than any file`);
}

function roundUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}
