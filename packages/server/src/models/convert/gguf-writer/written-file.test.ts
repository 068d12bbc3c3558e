import { expect, test } from "vitest";
import {
  encodeGguf,
  bool as otherBool,
  f32 as otherF32,
  string as otherString,
  u32 as otherU32,
} from "../../../../test/gguf/index.js";
import { bool, elementType, f32, i32s, layOut, string, strings, u32, writeGguf } from "./index.js";

const NEVER = new AbortController().signal;

/** Two pieces of a tensor, then nothing. */
async function* pieces(values: Float32Array, at: number) {
  yield values.subarray(0, at);
  yield values.subarray(at);
}

test("the bytes are those of another writer of the same content", async () => {
  const long = "long text ".repeat(20_000);
  const vector = Float32Array.from([1, -2.5, 3]);
  const matrix = Float32Array.from({ length: 12 }, (_, i) => i / 4);
  const F32 = elementType("F32");
  const layout = layOut(
    [
      ["general.architecture", string("bert")],
      ["a.number", u32(4_000_000_000)],
      ["a.fraction", f32(1e-12)],
      ["a.flag", bool(true)],
      ["a.long.text", string(long)],
      ["words", strings(["", "é", "\u2581sea"])],
      ["types", i32s([1, -3])],
    ],
    [
      { name: "vector", dimensions: [3], type: F32, values: () => pieces(vector, 1) },
      { name: "matrix", dimensions: [4, 3], type: F32, values: () => pieces(matrix, 8) },
    ],
  );
  const written: Uint8Array[] = [];
  await writeGguf(layout, { write: async (bytes) => void written.push(bytes.slice()) }, NEVER);
  const other = encodeGguf({
    metadata: [
      ["general.architecture", otherString("bert")],
      ["a.number", otherU32(4_000_000_000)],
      ["a.fraction", otherF32(1e-12)],
      ["a.flag", otherBool(true)],
      ["a.long.text", otherString(long)],
      ["words", { type: "array", of: "string", values: ["", "é", "\u2581sea"] }],
      ["types", { type: "array", of: "i32", values: [1, -3] }],
    ],
    tensors: [
      { name: "vector", shape: [3], type: "F32", values: vector },
      { name: "matrix", shape: [4, 3], type: "F32", values: matrix },
    ],
  });
  const bytes = Buffer.concat(written);
  // The other writer leaves out what would only align the end of the file.
  expect(bytes.length - other.length).toBeLessThan(32);
  expect(bytes.subarray(0, other.length).equals(other)).toBe(true);
  expect(bytes.length).toBe(layout.size);
});

test.each(["F16", "Q8_0"] as const)("a value that %s cannot hold is refused", async (name) => {
  const values = new Float32Array(32).fill(1e9);
  const type = elementType(name);
  const tensor = { name: "w", dimensions: [32], type, values: () => pieces(values, 32) };
  const writing = writeGguf(layOut([], [tensor]), { write: async () => {} }, NEVER);
  await expect(writing).rejects.toThrow(/w holds 1000000000, .* Take the type F32/);
});
