import { expect, it } from "vitest";
import type { Want } from "../estimate-types.js";
import { type Given, NO_RECURRENCE, summary } from "./__fixtures__/summary.js";
import { estimate } from "./index.js";

const WANT: Want = { contextTokens: 4096, slots: 3, batchTokens: 512 };

const estimated = (given: Given) => estimate(summary(given), WANT, { devices: 0 });
const kvOf = (given: Given) => estimated(given).layers.map(({ kv }) => kv);

const SSM = {
  ...NO_RECURRENCE,
  convolutionKernel: 4,
  innerSize: 2048,
  stateSize: 128,
  groups: 1,
};
/** Three columns of the convolution, and the scan's state; four bytes each. */
const SSM_STATE = (3 * (2048 + 2 * 128) + 128 * 2048) * 4;

it("mamba: one state a slot, whatever the context", () => {
  const mamba: Given = {
    architecture: "mamba2",
    layers: 2,
    embeddingLength: 1024,
    heads: 0,
    recurrence: SSM,
  };
  expect(kvOf(mamba)).toEqual([SSM_STATE * 3, SSM_STATE * 3]);
  expect(estimated(mamba).kvBytesPerToken).toBe(0);
  expect(estimated(mamba).checkpointBytes).toBe(2 * SSM_STATE);
});

const attention = { embeddingLength: 1024, heads: 8, kvHeads: 2 };
/** Keys and values of two heads of 128 elements for the whole pool. */
const KV = 2 * 128 * 2 * 2 * 4096;

it("jamba: layers without key/value heads are recurrent", () => {
  const recurrence = { ...SSM, groups: null };
  const state = (3 * 2048 + 128 * 2048) * 4 * 3;
  expect(
    kvOf({ architecture: "jamba", layers: 3, ...attention, kvHeads: [0, 2, 0], recurrence }),
  ).toEqual([state, KV, state]);
});

it("qwen3next: every fourth layer has attention, unless the file lists them or says otherwise", () => {
  const next: Given = { architecture: "qwen3next", layers: 4, ...attention, recurrence: SSM };
  const state = SSM_STATE * 3;
  expect(kvOf(next)).toEqual([state, state, state, KV]);
  expect(kvOf({ ...next, recurrence: { ...SSM, fullAttentionInterval: 2 } })).toEqual([
    state,
    KV,
    state,
    KV,
  ]);
  const recurrentLayers = [false, true, true, true];
  expect(kvOf({ ...next, recurrence: { ...SSM, recurrentLayers } })).toEqual([
    KV,
    state,
    state,
    state,
  ]);
});

it("falcon-h1: every layer has both", () => {
  const falcon: Given = { architecture: "falcon-h1", layers: 1, ...attention, recurrence: SSM };
  expect(kvOf(falcon)).toEqual([KV + SSM_STATE * 3]);
  expect(estimated(falcon).checkpointBytes).toBe(SSM_STATE);
});

it("nemotron_h: a layer is feed-forward, attention or recurrent", () => {
  const nemotron: Given = {
    architecture: "nemotron_h",
    layers: 3,
    ...attention,
    kvHeads: [0, 0, 2],
    feedForwardLength: [0, 4096, 0],
    recurrence: SSM,
  };
  expect(kvOf(nemotron)).toEqual([SSM_STATE * 3, 0, KV]);
});

it("rwkv7: two shifted tokens and a state as wide as the embedding", () => {
  const recurrence = { ...NO_RECURRENCE, wkvHeadSize: 64 };
  const rwkv: Given = { architecture: "rwkv7", layers: 1, embeddingLength: 768, recurrence };
  expect(kvOf(rwkv)).toEqual([(2 * 768 + 768 * 64) * 4 * 3]);
});

it("lfm2: short convolutions keep the tokens before", () => {
  const recurrence = { ...NO_RECURRENCE, shortConvolutionCache: 3 };
  const lfm: Given = {
    architecture: "lfm2",
    layers: 2,
    ...attention,
    kvHeads: [0, 2],
    recurrence,
  };
  expect(kvOf(lfm)).toEqual([1024 * 2 * 4 * 3, KV]);
});

it("kimi-linear: delta attention keeps a square for each head, the others one latent row", () => {
  const kimi: Given = {
    architecture: "kimi-linear",
    layers: 2,
    embeddingLength: 2304,
    headsPerLayer: [32, 32],
    heads: 32,
    kvHeads: [0, 1],
    keyLength: 576,
    recurrence: { ...NO_RECURRENCE, kdaHeadLength: 128, convolutionKernel: 4 },
    attention: { kvLoraRank: 512, mlaKeyLength: 192, mlaValueLength: 128 },
  };
  expect(kvOf(kimi)).toEqual([(3 * 3 * 32 * 128 + 128 * 128 * 32) * 4 * 3, 576 * 2 * 4096]);
});
