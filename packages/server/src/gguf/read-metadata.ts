import { type ByteCursor, CHUNK_BYTES } from "./byte-cursor.js";
import type { MetadataValue } from "./metadata.js";
import { grouped, quoted, type Refuse } from "./refusal.js";

/** Real headers have under 200 entries. */
const MAX_ENTRIES = 10_000;
/** Real keys are under 100 bytes. */
const MAX_KEY_BYTES = 512;
/** The engine's own limit is 512 layers; a list has one value a layer. */
const MAX_LIST_VALUES = 1024;
const MAX_LISTS = 64;
/** Key length, one byte of key, type number, one byte of value. */
const MIN_ENTRY_BYTES = 8 + 1 + 4 + 1;

const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

interface Scalar {
  readonly bytes: number;
  readonly read: (buffer: Buffer, at: number) => number;
}

/** Value types of fixed size by their number in the file: `enum gguf_type` in llama.cpp's gguf.h. */
const SCALARS: ReadonlyMap<number, Scalar> = new Map([
  [0, { bytes: 1, read: (buffer, at) => buffer.readUInt8(at) }],
  [1, { bytes: 1, read: (buffer, at) => buffer.readInt8(at) }],
  [2, { bytes: 2, read: (buffer, at) => buffer.readUInt16LE(at) }],
  [3, { bytes: 2, read: (buffer, at) => buffer.readInt16LE(at) }],
  [4, { bytes: 4, read: (buffer, at) => buffer.readUInt32LE(at) }],
  [5, { bytes: 4, read: (buffer, at) => buffer.readInt32LE(at) }],
  [6, { bytes: 4, read: (buffer, at) => buffer.readFloatLE(at) }],
  [BOOL, { bytes: 1, read: (buffer, at) => (buffer.readUInt8(at) === 0 ? 0 : 1) }],
  [10, { bytes: 8, read: (buffer, at) => Number(buffer.readBigUInt64LE(at)) }],
  [11, { bytes: 8, read: (buffer, at) => Number(buffer.readBigInt64LE(at)) }],
  [12, { bytes: 8, read: (buffer, at) => buffer.readDoubleLE(at) }],
] satisfies [number, Scalar][]);

const KEPT_TEXTS: ReadonlySet<string> = new Set([
  "general.architecture",
  "general.type",
  "general.name",
  "general.license",
  "tokenizer.chat_template",
  "clip.projector_type",
  "clip.vision.projector_type",
  "clip.audio.projector_type",
]);

/** Ends of the keys whose arrays hold one value a layer; they begin with the architecture. */
const KEPT_LISTS: readonly string[] = [
  ".attention.head_count",
  ".attention.head_count_kv",
  ".attention.sliding_window_pattern",
  ".attention.recurrent_layers",
  ".feed_forward_length",
  ".expert_feed_forward_length",
  ".expert_used_count",
];

const ALIGNMENT_KEY = "general.alignment";
const ALIGNMENT_TYPE = 4;

/**
 * Reads the metadata section, keeping numbers, the few strings that say something about the model,
 * and short per-layer lists. Everything else, the vocabulary above all, is passed over unread.
 *
 * @param count number of entries as the file states it
 * @throws SomnusError `model_unavailable` for a section that the engine would refuse, or that no model has
 */
export async function readMetadata(
  cursor: ByteCursor,
  count: number,
  refuse: Refuse,
): Promise<Map<string, MetadataValue>> {
  if (count > MAX_ENTRIES) {
    throw refuse(`its header is damaged: it announces ${grouped(count)} metadata entries`);
  }
  cursor.demand(count * MIN_ENTRY_BYTES);
  const values = new Map<string, MetadataValue>();
  let lists = 0;
  for (let i = 0; i < count; i++) {
    const key = await readKey(cursor, refuse);
    if (values.has(key)) throw refuse(`its header is damaged: ${quoted(key)} appears twice`);
    const typeNumber = await cursor.u32();
    if (key === ALIGNMENT_KEY && typeNumber !== ALIGNMENT_TYPE) {
      throw refuse(`its ${quoted(key)} is not an unsigned 32-bit number`);
    }
    const value = await readValue(cursor, key, typeNumber, refuse);
    if (value.kind === "list" && ++lists > MAX_LISTS) {
      throw refuse("its header is damaged: it has more per-layer lists than any model");
    }
    values.set(key, value);
  }
  return values;
}

async function readKey(cursor: ByteCursor, refuse: Refuse): Promise<string> {
  const length = await cursor.u64();
  if (length === 0 || length > MAX_KEY_BYTES) {
    throw refuse(`its header is damaged: a key of ${grouped(length)} bytes`);
  }
  return (await cursor.bytes(length)).toString("utf8");
}

async function readValue(
  cursor: ByteCursor,
  key: string,
  typeNumber: number,
  refuse: Refuse,
): Promise<MetadataValue> {
  if (typeNumber === STRING) return readText(cursor, key, refuse);
  if (typeNumber === ARRAY) return readArray(cursor, key, refuse);
  const scalar = SCALARS.get(typeNumber);
  if (!scalar) throw unknownType(key, typeNumber, refuse);
  const value = scalar.read(await cursor.bytes(scalar.bytes), 0);
  return typeNumber === BOOL ? { kind: "flag", value: value !== 0 } : { kind: "number", value };
}

async function readText(cursor: ByteCursor, key: string, refuse: Refuse): Promise<MetadataValue> {
  const length = await cursor.u64();
  if (!KEPT_TEXTS.has(key)) {
    cursor.skip(length);
    return { kind: "skippedText" };
  }
  if (length > CHUNK_BYTES) {
    throw refuse(
      `its ${quoted(key)} has ${grouped(length)} bytes; at most ${grouped(CHUNK_BYTES)} are read`,
    );
  }
  return { kind: "text", value: (await cursor.bytes(length)).toString("utf8") };
}

async function readArray(cursor: ByteCursor, key: string, refuse: Refuse): Promise<MetadataValue> {
  const elementType = await cursor.u32();
  const length = await cursor.u64();
  if (elementType === ARRAY) throw refuse(`its ${quoted(key)} is an array of arrays`);
  if (elementType === STRING) {
    await cursor.skipStrings(length);
    return { kind: "skippedList", length };
  }
  const scalar = SCALARS.get(elementType);
  if (!scalar) throw unknownType(key, elementType, refuse);
  const bytes = length * scalar.bytes;
  if (!KEPT_LISTS.some((end) => key.endsWith(end))) {
    cursor.skip(bytes);
    return { kind: "skippedList", length };
  }
  if (length > MAX_LIST_VALUES) {
    throw refuse(`its header is damaged: ${quoted(key)} lists ${grouped(length)} values`);
  }
  const view = await cursor.bytes(bytes);
  const values = Array.from({ length }, (_, i) => scalar.read(view, i * scalar.bytes));
  return { kind: "list", values };
}

function unknownType(key: string, typeNumber: number, refuse: Refuse): Error {
  return refuse(`its header is damaged: ${quoted(key)} has the unknown type ${typeNumber}`);
}
