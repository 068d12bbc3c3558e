import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SomnusError } from "../../../http/errors.js";
import { temporaryFolder } from "../__fixtures__/model-folder.js";
import { withHeader } from "../__fixtures__/safetensors.js";
import { openWeights } from "./index.js";

const DATA = new Uint8Array(16);
const whole = (offsets: unknown = [0, 16], shape: unknown = [4], dtype: unknown = "F32") => ({
  dtype,
  shape,
  data_offsets: offsets,
});
const file = (header: unknown, data: Uint8Array = DATA) => withHeader(JSON.stringify(header), data);
const length = (bytes: bigint) => {
  const start = Buffer.alloc(16);
  start.writeBigUInt64LE(bytes);
  return start;
};
const one = '{"dtype":"F32","shape":[4],"data_offsets":[0,16]}';

test.each<[string, Uint8Array]>([
  ["it has 3 bytes", Buffer.from("abc")],
  ["18446744073709552000 bytes", length(2n ** 64n - 1n)],
  ["9007199254740992 bytes", length(2n ** 53n)],
  ["cut short: 16 of 1008 bytes", length(1000n)],
  ["no { where one must be", withHeader("", DATA)],
  ["no { where one must be", withHeader("[]", DATA)],
  ["not text in UTF-8", Buffer.concat([length(8n).subarray(0, 8), Buffer.alloc(8, 0xff)])],
  ['names "a" twice', withHeader(`{"a":${one},"a":${one}}`, DATA)],
  ['names "dtype" twice', withHeader(`{"a":{"dtype":"F32","dtype":"F32"}}`, DATA)],
  ['names "__metadata__" twice', withHeader(`{"__metadata__":{},"__metadata__":{}}`)],
  ["no text where one must be", withHeader(`{"__metadata__":{"a":{"b":"c"}}}`)],
  ["something behind its end", withHeader(`{"a":${one}} x`, DATA)],
  ["a broken text", withHeader(`{"a\u0001":${one}}`, DATA)],
  ["a broken text", withHeader(`{"a`, DATA)],
  ["lacks its dtype, shape or data_offsets", file({ a: { dtype: "F32", shape: [4] } })],
  ['has an unknown "stride"', withHeader(`{"a":{"stride":[1]}}`, DATA)],
  ['of the unknown type "F31"', file({ a: whole([0, 16], [4], "F31") })],
  ["has no range of bytes", file({ a: whole([16, 0]) })],
  ["has no range of bytes", file({ a: whole([16]) })],
  ["a list of more than 2 numbers", file({ a: whole([0, 16, 32]) })],
  ["a list of more than 8 numbers", file({ a: whole([0, 16], new Array(9).fill(1)) })],
  ["no text where one must be", file({ a: whole([0, 16], [4], 7) })],
  ["not a whole one", file({ a: whole([0, 16], [-4]) })],
  ["not a whole one", file({ a: whole([0, 16], [4.5]) })],
  ["not a whole one", file({ a: whole([0, 16], [1e300]) })],
  ["not a whole one", file({ a: whole([0, 16], [[4]]) })],
  ["not a whole one", withHeader(`{"a":{"shape":[04]}}`, DATA)],
  ["not a whole one", withHeader(`{"a":{"shape":[9007199254740993]}}`, DATA)],
  ["has 16 bytes", file({ a: whole([0, 16], [5]) })],
  ["has 16 bytes", file({ a: whole([0, 16], [4], "F16") })],
  ["has 16 bytes", file({ a: whole([0, 16], [2 ** 32, 2 ** 32]) })],
  ["has 0 bytes", file({ a: whole([0, 0], [0, 2 ** 40, 2 ** 40]) })],
  ["overlaps another one", file({ a: whole([0, 16]), b: whole([8, 16], [2]) })],
  ["leaves a gap before it", file({ a: whole([8, 16], [2]) })],
  ["leaves a gap before it", file({ a: whole([0, 8], [2]), b: whole([12, 16], [1]) })],
  ["cut short", file({ a: whole([0, 32], [8]) })],
  ["leaves a gap before it", file({ a: whole([2 ** 50, 2 ** 50 + 16]) })],
  ["4 bytes behind its last tensor", file({ a: whole() }, new Uint8Array(20))],
  ["16 bytes behind its last tensor", withHeader("{}", DATA)],
  ["no { where one must be", withHeader(`{"a":${"[".repeat(1_000_000)}`, DATA)],
  ["no { where one must be", withHeader("[".repeat(16 * 1024 * 1024), DATA)],
])("a header that lies is named: %s", async (expected, content) => {
  const path = join(await temporaryFolder(), "model.safetensors");
  await writeFile(path, content);
  const error = await openWeights(new Map([["model.safetensors", path]])).catch((e: unknown) => e);
  if (!(error instanceof SomnusError)) throw new Error("it was not refused", { cause: error });
  expect(error.code).toBe("model_unavailable");
  expect(error.message).toContain(expected);
  expect(error.message.length).toBeLessThan(400);
});

test("names with escapes, spaces behind the header and tensors without elements are read", async () => {
  const path = join(await temporaryFolder(), "model.safetensors");
  const header = `{"\\u0061\\"":${one}, "none":{"data_offsets":[16,16],"dtype":"BF16","shape":[0,7]}}   `;
  await writeFile(path, withHeader(header, DATA));
  const weights = await openWeights(new Map([["model.safetensors", path]]));
  await weights.close();
  expect([...weights.tensors.keys()]).toEqual(['a"', "none"]);
});
