import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../__fixtures__/model-folder.js";
import { encodeSafetensors, floats } from "../__fixtures__/safetensors.js";
import { openWeights } from "./index.js";

const PARTS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
const INDEX = "model.safetensors.index.json";

/** Two files with one tensor each, and an index. */
async function checkpoint(index: unknown): Promise<Map<string, string>> {
  const folder = await temporaryFolder();
  const files = new Map([...PARTS, INDEX].map((name) => [name, join(folder, name)] as const));
  for (const [i, name] of ["a", "b"].entries()) {
    const content = encodeSafetensors([floats(name, [1], Float32Array.from([i + 1]))]);
    await writeFile(files.get(PARTS[i]!)!, content);
  }
  await writeFile(files.get(INDEX)!, JSON.stringify(index));
  return new Map(files);
}

test("tensors are found in the file that the index names", async () => {
  const weights = await openWeights(await checkpoint({ weight_map: { a: PARTS[0], b: PARTS[1] } }));
  const values: number[] = [];
  for (const name of ["b", "a"]) {
    for await (const piece of weights.values(name, new AbortController().signal)) {
      values.push(...piece);
    }
  }
  await weights.close();
  expect(values).toEqual([2, 1]);
});

test.each([
  ['holds tensor "b"', { weight_map: { a: PARTS[1], b: PARTS[0] } }],
  ['lacks tensor "c"', { weight_map: { a: PARTS[0], c: PARTS[0], b: PARTS[1] } }],
  ["../outside.safetensors is missing", { weight_map: { a: "../outside.safetensors" } }],
  ["has no weight_map", { metadata: {} }],
  ["is 7, not an object", { weight_map: 7 }],
  ['places tensor "a" nowhere', { weight_map: { a: 1 } }],
  [
    "more than 256 files",
    { weight_map: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [i, `${i}`])) },
  ],
])("an index that does not fit is named: %s", async (expected, index) => {
  const opening = openWeights(await checkpoint(index));
  await expect(opening).rejects.toThrow(expected);
});
