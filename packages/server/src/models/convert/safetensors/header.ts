import { decodeUtf8, type InputFile } from "../input-file.js";
import { quoted, type Refuse } from "../refusal.js";
import { bytesOfElement } from "./element-type.js";
import { HeaderScanner } from "./header-scanner.js";

/** One tensor of a safetensors file. */
export interface StoredTensor {
  readonly name: string;
  /** "F32", "BF16". */
  readonly type: string;
  /** Slowest dimension first. */
  readonly shape: readonly number[];
  /** Product of the shape. */
  readonly elements: number;
  /** Offset of its first byte in the file. */
  readonly start: number;
  readonly bytes: number;
}

const LENGTH_BYTES = 8;
/** Models of 20,000 tensors have headers of about 3 MB. */
const MOST_HEADER_BYTES = 16 * 1024 * 1024;
const MOST_TENSORS = 65_536;
const MOST_DIMENSIONS = 8;
const METADATA_KEY = "__metadata__";

/**
 * Reads the list of tensors of a safetensors file and checks it against the file: every byte behind
 * the header belongs to exactly one tensor, and each has as many as its type and shape need.
 *
 * The format: README.md of the safetensors project, "Format".
 *
 * @throws SomnusError `model_unavailable` for a file that does not keep to the format
 */
export async function readHeader(input: InputFile): Promise<StoredTensor[]> {
  const { size, refuse } = input;
  if (size < LENGTH_BYTES) throw refuse(`is no safetensors file: it has ${size} bytes`);
  const prefix = new Uint8Array(LENGTH_BYTES);
  await input.read(prefix, 0);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  if (length > MOST_HEADER_BYTES) {
    throw refuse(
      `is no safetensors file or damaged: its header would have ${length} bytes; fetch it again`,
    );
  }
  const dataStart = LENGTH_BYTES + length;
  if (dataStart > size) throw refuse(cutShort(size, dataStart));
  const bytes = new Uint8Array(length);
  await input.read(bytes, LENGTH_BYTES);
  const tensors = parseHeader(decodeUtf8(bytes, refuse), dataStart, refuse);
  requireComplete(tensors, dataStart, size, refuse);
  return tensors;
}

function parseHeader(text: string, dataStart: number, refuse: Refuse): StoredTensor[] {
  const tensors: StoredTensor[] = [];
  const scanner = new HeaderScanner(text, refuse);
  scanner.object((name) => {
    if (name === METADATA_KEY) {
      scanner.object(() => void scanner.string());
      return;
    }
    if (tensors.length === MOST_TENSORS) throw refuse(`lists more than ${MOST_TENSORS} tensors`);
    tensors.push(readTensor(scanner, name, dataStart, refuse));
  });
  scanner.end();
  return tensors;
}

function readTensor(
  scanner: HeaderScanner,
  name: string,
  dataStart: number,
  refuse: Refuse,
): StoredTensor {
  const wrong = (problem: string) =>
    refuse(`has a damaged header: tensor ${quoted(name)} ${problem}`);
  let type: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  scanner.object((key) => {
    if (key === "dtype") type = scanner.string();
    else if (key === "shape") shape = scanner.counts(MOST_DIMENSIONS);
    else if (key === "data_offsets") offsets = scanner.counts(2);
    else throw wrong(`has an unknown ${quoted(key)}`);
  });
  if (type === undefined || shape === undefined || offsets === undefined) {
    throw wrong("lacks its dtype, shape or data_offsets");
  }
  const elementBytes = bytesOfElement(type);
  if (elementBytes === null) {
    throw refuse(`holds tensor ${quoted(name)} of the unknown type ${quoted(type)}`);
  }
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || end < begin) {
    throw wrong("has no range of bytes");
  }
  const elements = elementsOf(shape);
  const bytes = end - begin;
  if (elements === null || elements * elementBytes !== bytes) {
    throw wrong(`of type ${type} and shape [${shape.join(", ")}] has ${bytes} bytes`);
  }
  return { name, type, shape, elements, start: dataStart + begin, bytes };
}

/** Null for a product that is not exact. A dimension of 0 does not hide another that is out of range. */
function elementsOf(shape: readonly number[]): number | null {
  let elements = 1;
  let largest = 1;
  for (const size of shape) {
    elements *= size;
    largest *= Math.max(1, size);
  }
  return Number.isSafeInteger(largest) ? elements : null;
}

function requireComplete(
  tensors: readonly StoredTensor[],
  dataStart: number,
  fileBytes: number,
  refuse: Refuse,
): void {
  let next = dataStart;
  for (const tensor of [...tensors].sort((a, b) => a.start - b.start || a.bytes - b.bytes)) {
    if (tensor.start !== next) {
      const fault = tensor.start < next ? "overlaps another one" : "leaves a gap before it";
      throw refuse(`has a damaged header: tensor ${quoted(tensor.name)} ${fault}`);
    }
    next += tensor.bytes;
  }
  if (next > fileBytes) throw refuse(cutShort(fileBytes, next));
  if (next < fileBytes) {
    throw refuse(`is damaged: ${fileBytes - next} bytes behind its last tensor belong to none`);
  }
}

function cutShort(has: number, needs: number): string {
  return `is cut short: ${has} of ${needs} bytes; fetch it again`;
}
