import { expect, test } from "vitest";
import {
  type GgufSource,
  type GgufValue,
  tinyLlama,
  u32,
  withTemporaryFile,
} from "../../test/gguf/index.js";
import { readGguf } from "./index.js";

/** The summary of a llama file with these entries added or, of the same key, replaced. */
function summaryWith(entries: Record<string, GgufValue>) {
  const source = tinyLlama();
  const kept = source.metadata.filter(([key]) => !(key in entries));
  const changed: GgufSource = { ...source, metadata: [...kept, ...Object.entries(entries)] };
  return withTemporaryFile(changed, (path) => readGguf(path));
}

const numbers = (...values: number[]): GgufValue => ({ type: "array", of: "i32", values });

test("heads that differ between layers are listed, none is made up", async () => {
  expect(
    await summaryWith({
      "llama.attention.head_count": numbers(4, 2),
      "llama.attention.head_count_kv": numbers(2, 0),
      "llama.feed_forward_length": numbers(256, 0),
    }),
  ).toMatchObject({
    heads: null,
    headsPerLayer: [4, 2],
    kvHeads: [2, 0],
    feedForwardLength: [256, 0],
  });
});

test("heads that are listed but equal are one number as well", async () => {
  const summary = await summaryWith({ "llama.attention.head_count": numbers(4, 4) });
  expect(summary).toMatchObject({ heads: 4, headsPerLayer: [4, 4] });
});

test("latent attention tells its ranks and lengths", async () => {
  const summary = await summaryWith({
    "llama.attention.kv_lora_rank": u32(512),
    "llama.attention.key_length_mla": u32(192),
    "llama.attention.value_length_mla": u32(128),
  });
  expect(summary.attention).toMatchObject({
    kvLoraRank: 512,
    mlaKeyLength: 192,
    mlaValueLength: 128,
    ropeDimensions: 32,
  });
});

test("sliding windows tell their width and which layers have them, by period or one by one", async () => {
  const byPeriod = await summaryWith({
    "llama.attention.sliding_window": u32(512),
    "llama.attention.sliding_window_pattern": u32(6),
    "llama.attention.shared_kv_layers": u32(1),
  });
  expect(byPeriod).toMatchObject({
    slidingWindow: 512,
    attention: { slidingPeriod: 6, slidingLayers: null, sharedKvLayers: 1 },
  });
  const oneByOne = await summaryWith({
    "llama.attention.sliding_window_pattern": { type: "array", of: "bool", values: [true, false] },
  });
  expect(oneByOne.attention).toMatchObject({ slidingPeriod: null, slidingLayers: [true, false] });
});

test("a sliding window of 0 is none", async () => {
  const summary = await summaryWith({ "llama.attention.sliding_window": u32(0) });
  expect(summary.slidingWindow).toBeNull();
});

test("recurrent layers tell what their state needs", async () => {
  const summary = await summaryWith({
    "llama.ssm.conv_kernel": u32(4),
    "llama.ssm.inner_size": u32(2048),
    "llama.ssm.state_size": u32(128),
    "llama.full_attention_interval": u32(4),
  });
  expect(summary.recurrence).toEqual({
    convolutionKernel: 4,
    innerSize: 2048,
    stateSize: 128,
    timeStepRank: null,
    groups: null,
    wkvHeadSize: null,
    tokenShifts: null,
    shortConvolutionCache: null,
    kdaHeadLength: null,
    fullAttentionInterval: 4,
    recurrentLayers: null,
  });
});

test.each<[string, GgufValue]>([
  ["llama.context_length", { type: "string", value: "4096" }],
  ["llama.context_length", { type: "f32", value: 0.5 }],
  ["llama.context_length", { type: "i32", value: -1 }],
  ["llama.context_length", { type: "u64", value: 2 ** 60 }],
  ["llama.attention.head_count", { type: "bool", value: true }],
  ["llama.attention.causal", u32(1)],
  ["llama.attention.head_count_kv", numbers(2, -2)],
  ["llama.block_count", u32(100_000)],
])("a value that no model has is refused with its key: %s %o", async (key, value) => {
  const refused = key === "llama.block_count" ? "100,000 layers" : key;
  await expect(summaryWith({ [key]: value })).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining(refused),
  });
});
