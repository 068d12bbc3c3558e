import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../__fixtures__/model-folder.js";
import { encodeSafetensors, floats, type TensorSource } from "../__fixtures__/safetensors.js";
import { openWeights, type Weights } from "./index.js";

const NEVER = new AbortController().signal;

async function reading<T>(
  tensors: TensorSource[],
  use: (weights: Weights, path: string) => Promise<T>,
): Promise<T> {
  const path = join(await temporaryFolder(), "model.safetensors");
  await writeFile(path, encodeSafetensors(tensors));
  const weights = await openWeights(new Map([["model.safetensors", path]]));
  try {
    return await use(weights, path);
  } finally {
    await weights.close();
  }
}

async function valuesOf(weights: Weights, name: string, signal = NEVER): Promise<number[]> {
  const values: number[] = [];
  for await (const piece of weights.values(name, signal))
    for (const value of piece) values.push(value);
  return values;
}

const of16 = (type: string, ...bits: number[]): TensorSource => ({
  name: "t",
  type,
  shape: [bits.length],
  data: new Uint8Array(Uint16Array.from(bits).buffer),
});

test.each([
  [
    of16("F16", 0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x0400),
    [1, -2, 65504, 2 ** -24, -0, 2 ** -14],
  ],
  [of16("BF16", 0x3f80, 0xc000, 0x0001, 0x8000, 0x4049), [1, -2, 2 ** -133, -0, 3.140625]],
])("16-bit elements are read exactly: $type", async (tensor, expected) => {
  expect(await reading([tensor], (weights) => valuesOf(weights, "t"))).toEqual(expected);
});

test("elements are read from any byte of the file on", async () => {
  const odd: TensorSource = { name: "odd", type: "U8", shape: [3], data: new Uint8Array(3) };
  for (const values of [[1.5], [1.5, -2.25, 1e-40]]) {
    const tensor = floats("t", [values.length], Float32Array.from(values));
    const read = await reading([odd, tensor], (weights) => valuesOf(weights, "t"));
    expect(read).toEqual([...Float32Array.from(values)]);
  }
});

test("a large tensor comes in pieces, each value once and in order", async () => {
  const count = 600_001;
  const tensor = floats(
    "t",
    [count],
    Float32Array.from({ length: count }, (_, i) => i),
  );
  await reading([tensor], async (weights) => {
    let next = 0;
    let pieces = 0;
    for await (const piece of weights.values("t", NEVER)) {
      pieces++;
      for (const value of piece) if (value !== next++) throw new Error(`${value} at ${next - 1}`);
    }
    expect({ next, pieces }).toEqual({ next: count, pieces: 3 });
  });
});

test.each([
  ["NaN", floats("t", [2], Float32Array.from([0, Number.NaN]))],
  ["Infinity", floats("t", [1], Float32Array.from([Number.POSITIVE_INFINITY]))],
  ["NaN", of16("F16", 0x7c01)],
  ["-Infinity", of16("F16", 0xfc00)],
  ["NaN", of16("BF16", 0x7fc0)],
])("a value that is no number is refused: %s", async (value, tensor) => {
  const reads = reading([tensor], (weights) => valuesOf(weights, "t"));
  await expect(reads).rejects.toThrow(`tensor "t" holds ${value}; fetch it again`);
});

test("a tensor of another type is listed and not read", async () => {
  const tensor: TensorSource = { name: "t", type: "I64", shape: [2], data: new Uint8Array(16) };
  await reading([tensor], async (weights) => {
    expect(weights.tensors.get("t")).toMatchObject({ type: "I64", shape: [2], elements: 2 });
    await expect(valuesOf(weights, "t")).rejects.toThrow("of type I64, not F32, F16 or BF16");
  });
});

test("a file that becomes shorter while it is read is named", async () => {
  const tensor = floats("t", [400_000], new Float32Array(400_000));
  await reading([tensor], async (weights, path) => {
    const values = weights.values("t", NEVER);
    await values.next();
    await truncate(path, 1_200_000);
    await expect(values.next()).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("became shorter while it was read"),
    });
  });
});
