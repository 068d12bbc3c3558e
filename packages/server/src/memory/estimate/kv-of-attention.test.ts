import { expect, it } from "vitest";
import type { Want } from "../estimate-types.js";
import { type Given, summary } from "./__fixtures__/summary.js";
import { estimate } from "./index.js";

const WANT: Want = { contextTokens: 8192, slots: 4, batchTokens: 512 };

const kvOf = (given: Given, want: Partial<Want> = {}) => {
  const { layers, kvBytesPerToken } = estimate(
    summary(given),
    { ...WANT, ...want },
    { devices: 0 },
  );
  return { layers: layers.map(({ kv }) => kv), kvBytesPerToken };
};

const LLAMA3: Given = { layers: 32, embeddingLength: 4096, heads: 32, kvHeads: 8 };

it("grouped heads: 8 of 128 elements, keys and values, two bytes each", () => {
  const { layers, kvBytesPerToken } = kvOf(LLAMA3);
  expect(layers).toEqual(Array(32).fill(8 * 128 * 2 * 2 * 8192));
  expect(kvBytesPerToken).toBe(131_072);
});

it("slots share the pool", () => {
  expect(kvOf(LLAMA3, { slots: 1 })).toEqual(kvOf(LLAMA3, { slots: 16 }));
});

it("cells are counted in steps of 256", () => {
  expect(kvOf(LLAMA3, { contextTokens: 7937 })).toEqual(kvOf(LLAMA3));
  expect(kvOf(LLAMA3, { contextTokens: 7936 }).layers[0]).toBe(4096 * 7936);
});

it.each([
  ["f32", 4096, 4096],
  ["bf16", 2048, 2048],
  ["q8_0", 1088, 1088],
  ["q5_1", 768, 768],
  ["q5_0", 704, 704],
  ["q4_1", 640, 640],
  ["q4_0", 576, 576],
  ["iq4_nl", 576, 576],
])("a row of 1024 elements in %s", (type, keys, values) => {
  const { kvBytesPerToken } = kvOf(LLAMA3, { cacheTypeK: type, cacheTypeV: type });
  expect(kvBytesPerToken).toBe(32 * (keys + values));
});

it("keys and values may have different types", () => {
  const { kvBytesPerToken } = kvOf(LLAMA3, { cacheTypeK: "q8_0", cacheTypeV: "q4_0" });
  expect(kvBytesPerToken).toBe(32 * (1088 + 576));
});

it("a row that is no whole number of blocks is rounded up", () => {
  const odd: Given = { layers: 1, embeddingLength: 80, heads: 1, kvHeads: 1 };
  expect(kvOf(odd, { cacheTypeK: "q8_0", cacheTypeV: "f16" }).kvBytesPerToken).toBe(3 * 34 + 160);
});

it("a cache type that there is not is refused by name", () => {
  expect(() => kvOf(LLAMA3, { cacheTypeK: "q3_0" })).toThrow(/q3_0.*q8_0/);
});

it("latent attention keeps one row of 576 elements, and no values", () => {
  const deepseek: Given = {
    architecture: "deepseek2",
    layers: 61,
    embeddingLength: 7168,
    heads: 128,
    kvHeads: 1,
    keyLength: 576,
    valueLength: 512,
    attention: { kvLoraRank: 512, mlaKeyLength: 192, mlaValueLength: 128, ropeDimensions: 64 },
  };
  expect(kvOf(deepseek)).toEqual({
    layers: Array(61).fill(576 * 2 * 8192),
    kvBytesPerToken: 61 * 1152,
  });
});

it("an old file of such a model without its own lengths keeps whole heads", () => {
  const old: Given = {
    architecture: "deepseek2",
    layers: 27,
    heads: 16,
    kvHeads: 16,
    keyLength: 192,
    valueLength: 128,
    attention: { kvLoraRank: 512 },
  };
  expect(kvOf(old).kvBytesPerToken).toBe(27 * 16 * (192 + 128) * 2);
});

it("layers that only predict further tokens keep nothing", () => {
  const glm: Given = { ...LLAMA3, architecture: "glm4moe", layers: 3, predictionLayers: 1 };
  expect(kvOf(glm).layers).toEqual([4096 * 8192, 4096 * 8192, 0]);
});

it("layers without key/value heads keep nothing", () => {
  const deci: Given = { ...LLAMA3, architecture: "deci", layers: 3, kvHeads: [8, 0, 4] };
  expect(kvOf(deci).layers).toEqual([4096 * 8192, 0, 2048 * 8192]);
});

it("encoders keep nothing", () => {
  const bert: Given = { architecture: "bert", layers: 2, embeddingLength: 384, heads: 12 };
  expect(kvOf(bert)).toEqual({ layers: [0, 0], kvBytesPerToken: 0 });
});

it("without flash attention every layer has values as wide as the widest", () => {
  const uneven: Given = { ...LLAMA3, layers: 2, kvHeads: [8, 2] };
  expect(kvOf(uneven, { flashAttention: false }).layers).toEqual([
    (1024 + 1024) * 2 * 8192,
    (256 + 1024) * 2 * 8192,
  ]);
});
