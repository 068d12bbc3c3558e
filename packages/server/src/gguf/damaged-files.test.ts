import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  encodeGguf,
  type GgufSource,
  type GgufValue,
  string,
  tinyLlama,
  u32,
  withTemporaryFile,
} from "../../test/gguf/index.js";
import { SomnusError } from "../http/errors.js";
import { readGguf } from "./index.js";

async function refusalOf(content: GgufSource | Uint8Array): Promise<string> {
  const error = await withTemporaryFile(content, (path) => readGguf(path)).catch((e: unknown) => e);
  if (!(error instanceof SomnusError))
    throw new Error("the file was not refused", { cause: error });
  expect(error.code).toBe("model_unavailable");
  return error.message;
}

const whole = encodeGguf(tinyLlama());

/** The tiny model's bytes with some of them replaced. */
function changed(change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(whole);
  change(bytes);
  return bytes;
}

function withEntry(key: string, value: GgufValue): GgufSource {
  const source = tinyLlama();
  return { ...source, metadata: [...source.metadata, [key, value]] };
}

test("a file that was cut short says how much of it is there", async () => {
  const message = await refusalOf(whole.subarray(0, 500_000));
  expect(message).toContain("cut short: 500,000 of 804,704 bytes");
});

test("a file that ends inside its header is cut short, too", async () => {
  expect(await refusalOf(whole.subarray(0, 4000))).toContain("cut short or damaged");
});

test("padding behind the last tensor is not missed", async () => {
  const source = tinyLlama();
  const vector = { name: "last", shape: [1], type: "F32", values: new Float32Array(1) } as const;
  const bytes = encodeGguf({ ...source, tensors: [...source.tensors, vector] });
  const summary = await withTemporaryFile(bytes, (path) => readGguf(path));
  expect(summary.fileBytes).toBe(bytes.length);
});

test.each<[string, Buffer | string]>([
  ["it is empty", ""],
  ["it has only 3 bytes", "GGU"],
  ["not a GGUF file", "PK\u0003\u0004 some archive"],
  ["Git LFS pointer", "version https://example.org/spec/v1\noid sha256:0\n"],
  ["web page", "<!DOCTYPE html><html>"],
  ["before GGUF", "tjgg\u0001\u0000\u0000\u0000"],
  ["version 1", changed((bytes) => bytes.writeUInt32LE(1, 4))],
  ["version 4", changed((bytes) => bytes.writeUInt32LE(4, 4))],
  ["version 0", changed((bytes) => bytes.writeUInt32LE(0, 4))],
  ["big-endian", changed((bytes) => bytes.writeUInt32BE(3, 4))],
  ["18,446,744,073,709,552,000 tensors", changed((bytes) => bytes.fill(0xff, 8, 16))],
  ["metadata entries", changed((bytes) => bytes.fill(0xff, 16, 24))],
  ["cut short or damaged", changed((bytes) => bytes.writeUInt32LE(9_000, 16)).subarray(0, 100_000)],
  ["a key of 0 bytes", changed((bytes) => bytes.writeUInt32LE(0, 24))],
  ["a key of 4,294,967,295 bytes", changed((bytes) => bytes.writeUInt32LE(0xffffffff, 24))],
])("what is not a readable GGUF file is named: %s", async (expected, content) => {
  expect(await refusalOf(Buffer.from(content as string, "latin1"))).toContain(expected);
});

test.each<[string, GgufSource]>([
  ['"general.name" appears twice', withEntry("general.name", string("again"))],
  ["alignment 24 is not a power of two", withEntry("general.alignment", u32(24))],
  ["alignment 0 is not a power of two", withEntry("general.alignment", u32(0))],
  ["unsigned 32-bit", withEntry("general.alignment", { type: "u64", value: 32 })],
  [
    "lists 2,000 values",
    withEntry("x.attention.head_count", {
      type: "array",
      of: "u32",
      values: Array.from({ length: 2000 }, () => 1),
    }),
  ],
  ["which architecture", { metadata: [], tensors: tinyLlama().tensors }],
  ["no weights", { ...tinyLlama(), tensors: [] }],
  [
    "part 2 of 2",
    {
      ...tinyLlama(),
      metadata: [
        ["split.no", u32(2)],
        ["split.count", u32(2)],
      ],
    },
  ],
])("damaged metadata are named: %s", async (expected, source) => {
  expect(await refusalOf(source)).toContain(expected);
});

const FOUR_GIGABYTES = 2 ** 32;
const none = new Uint8Array(0);

test.each<[string, GgufSource["tensors"]]>([
  ["unknown type 77", [{ name: "a", shape: [32], typeNumber: 77, data: none }]],
  ["Q4_0_4_4 (31)", [{ name: "a", shape: [32], typeNumber: 31, data: none }]],
  ["not a multiple of 32", [{ name: "a", shape: [33], typeNumber: 8, data: none }]],
  ["5 dimensions", [{ name: "a", shape: [1, 1, 1, 1, 1], typeNumber: 0, data: none }]],
  [
    "larger than any file",
    [
      {
        name: "a",
        shape: [FOUR_GIGABYTES, FOUR_GIGABYTES, FOUR_GIGABYTES, FOUR_GIGABYTES],
        typeNumber: 0,
        data: none,
      },
    ],
  ],
  ["larger than any file", [{ name: "a", shape: [0, 2 ** 60], typeNumber: 0, data: none }]],
  ["cut short", [{ name: "a", shape: [FOUR_GIGABYTES, 1000], typeNumber: 0, data: none }]],
  [
    "two tensors",
    [
      { name: "a", shape: [1], typeNumber: 0, data: new Uint8Array(4) },
      { name: "a", shape: [1], typeNumber: 0, data: new Uint8Array(4) },
    ],
  ],
  [
    "expected at 64",
    [
      { name: "a", shape: [16], typeNumber: 0, data: new Uint8Array(32) },
      { name: "b", shape: [1], typeNumber: 0, data: new Uint8Array(4) },
    ],
  ],
  ["a tensor name of 200 bytes", [{ name: "n".repeat(200), shape: [], typeNumber: 0, data: none }]],
  ["layer 5,000", [{ name: "blk.5000.x", shape: [1], typeNumber: 0, data: new Uint8Array(4) }]],
])("damaged tensors are named: %s", async (expected, tensors) => {
  expect(await refusalOf({ metadata: tinyLlama().metadata, tensors })).toContain(expected);
});

test("a larger alignment is followed", async () => {
  const source = withEntry("general.alignment", u32(4096));
  const summary = await withTemporaryFile({ ...source, alignment: 4096 }, (path) => readGguf(path));
  expect(summary.tensorCount).toBe(21);
});

test("text of the file is escaped and shortened in the message", async () => {
  const name = `\u001b[31m${"n".repeat(100)}`;
  const message = await refusalOf({
    metadata: tinyLlama().metadata,
    tensors: [{ name, shape: [32], typeNumber: 77, data: none }],
  });
  expect(message).toContain("\\u001b[31m");
  expect(message).not.toContain("\u001b");
  expect(message).not.toContain("n".repeat(90));
});

test("a header that would span more than any model's is refused before it is read", async () => {
  const start = encodeGguf({
    metadata: [["a", { type: "array", of: "string", values: [] }]],
    tensors: [],
  });
  const countAt = 24 + 8 + 1 + 4 + 4;
  start.writeUInt32LE(10_000_000, countAt);
  const refused = withTemporaryFile(start, async (path) => {
    await truncate(path, 256 * 1024 * 1024);
    return readGguf(path);
  });
  await expect(refused).rejects.toThrow("larger than 67,108,864 bytes");
});

test("a missing file and a folder are refused, and no message names the folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "somnus-gguf-"));
  try {
    const missing = readGguf(join(folder, "absent.gguf"));
    await expect(missing).rejects.toMatchObject({
      code: "model_unavailable",
      message: 'The model file "absent.gguf" cannot be used: it does not exist.',
    });
    await expect(readGguf(folder)).rejects.toMatchObject({ code: "model_unavailable" });
  } finally {
    await rm(folder, { recursive: true });
  }
});
