import type { InputFiles } from "../converter.js";
import { type InputFile, openInput } from "../input-file.js";
import { quoted, refusalOf } from "../refusal.js";
import { readSettings } from "../settings-file.js";
import { DECODE_16 } from "./element-type.js";
import { readHeader, type StoredTensor } from "./header.js";

const WHOLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";
const MOST_INDEX_BYTES = 16 * 1024 * 1024;
const MOST_PARTS = 256;
/** Elements that are in memory at once: a multiple of every block of a quantization. */
const CHUNK_ELEMENTS = 256 * 1024;

/** The tensors of a checkpoint, in one file or in several. Whoever got it closes it. */
export interface Weights {
  /** By name, of all types. */
  readonly tensors: ReadonlyMap<string, Pick<StoredTensor, "type" | "shape" | "elements">>;
  /**
   * The values of a tensor in order, in views that are valid until the next one is taken; one tensor
   * is read at a time.
   * @throws SomnusError `model_unavailable` when it is missing, not of type F32, F16 or BF16, or holds
   *   a value that is no number; the signal's reason when aborted
   */
  values(name: string, signal: AbortSignal): AsyncGenerator<Float32Array>;
  close(): Promise<void>;
}

/** Whether `values` can read tensors of this type. */
export function isReadable(type: string): boolean {
  return type === "F32" || DECODE_16.has(type);
}

/** Names of the files that hold weights, for a converter's list of inputs. */
export const WEIGHT_FILES: readonly string[] = [WHOLE, INDEX, "model-*.safetensors"];

/**
 * Opens model.safetensors, or the parts that model.safetensors.index.json lists.
 * @throws SomnusError `model_unavailable` when they are missing, damaged or contradict each other
 */
export async function openWeights(files: InputFiles): Promise<Weights> {
  const opened: InputFile[] = [];
  const close = async () => {
    for (const input of opened) await input.close();
  };
  try {
    const placed = new Map<string, { input: InputFile; tensor: StoredTensor }>();
    for (const [part, expected] of await partsOf(files)) {
      const input = await openInput(files, part);
      opened.push(input);
      for (const tensor of await readHeader(input)) {
        if (expected !== null && !expected.delete(tensor.name)) {
          throw input.refuse(
            `holds tensor ${quoted(tensor.name)}, which ${INDEX} does not place there`,
          );
        }
        placed.set(tensor.name, { input, tensor });
      }
      for (const name of expected ?? []) {
        throw input.refuse(`lacks tensor ${quoted(name)}, which ${INDEX} places there`);
      }
    }
    const tensors = new Map([...placed].map(([name, { tensor }]) => [name, tensor] as const));
    const chunk = new Float32Array(CHUNK_ELEMENTS);
    return {
      tensors,
      close,
      async *values(name, signal) {
        const found = placed.get(name);
        if (!found) throw refusalOf(WHOLE)(`lacks tensor ${quoted(name)}`);
        yield* valuesOf(found.input, found.tensor, chunk, signal);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The files to open, each with the names of the tensors that it must hold, null where nobody says. */
async function partsOf(files: InputFiles): Promise<Map<string, Set<string> | null>> {
  if (files.has(WHOLE)) return new Map([[WHOLE, null]]);
  if (!files.has(INDEX)) {
    throw refusalOf(WHOLE)(
      "is missing; weights in PyTorch's own format are not read, take the model's safetensors files",
    );
  }
  const index = await readSettings(files, INDEX, MOST_INDEX_BYTES);
  const map = index.within("weight_map");
  if (!map) throw index.refuse("has no weight_map");
  const parts = new Map<string, Set<string>>();
  for (const [name, part] of map.entries()) {
    if (typeof part !== "string") throw index.refuse(`places tensor ${quoted(name)} nowhere`);
    const names = parts.get(part) ?? new Set();
    parts.set(part, names.add(name));
    if (parts.size > MOST_PARTS) throw index.refuse(`names more than ${MOST_PARTS} files`);
  }
  return parts;
}

async function* valuesOf(
  input: InputFile,
  tensor: StoredTensor,
  chunk: Float32Array,
  signal: AbortSignal,
): AsyncGenerator<Float32Array> {
  const decode = DECODE_16.get(tensor.type);
  if (!isReadable(tensor.type)) {
    throw input.refuse(
      `holds tensor ${quoted(tensor.name)} of type ${tensor.type}, not F32, F16 or BF16`,
    );
  }
  // The data may begin at any byte of the file, so it is read into memory of its own, which is aligned.
  const halves = decode ? new Uint16Array(Math.min(tensor.elements, chunk.length)) : null;
  const elementBytes = halves ? 2 : 4;
  for (let at = 0; at < tensor.elements; at += chunk.length) {
    signal.throwIfAborted();
    const values = chunk.subarray(0, Math.min(chunk.length, tensor.elements - at));
    const raw = halves ? halves.subarray(0, values.length) : values;
    const bytes = new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength);
    await input.read(bytes, tensor.start + at * elementBytes);
    if (raw instanceof Uint16Array) decode?.(raw, values);
    requireNumbers(values, tensor, input);
    yield values;
  }
}

/** One value that is none would make every vector of the model one. */
function requireNumbers(values: Float32Array, tensor: StoredTensor, input: InputFile): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw input.refuse(
        `is damaged: tensor ${quoted(tensor.name)} holds ${values[i]}; fetch it again`,
      );
    }
  }
}
