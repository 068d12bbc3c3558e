import { expect, it } from "vitest";
import type { Want } from "../estimate-types.js";
import { GEMMA3, type Given, summary } from "./__fixtures__/summary.js";
import { estimate } from "./index.js";

const WANT: Want = { contextTokens: 32_768, slots: 4, batchTokens: 512 };

const estimated = (given: Given, want: Partial<Want> = {}) =>
  estimate(summary(given), { ...WANT, ...want }, { devices: 0 });
const kvOf = (given: Given, want: Partial<Want> = {}) =>
  estimated(given, want).layers.map(({ kv }) => kv);

/** Keys and values of one head of 256 elements, two bytes each. */
const ROW = 256 * 2 * 2;

it("gemma3: five layers of six keep a window for each slot and a batch", () => {
  const window = ROW * (4 * 512 + 512);
  const all = ROW * 32_768;
  expect(kvOf(GEMMA3)).toEqual(
    Array.from({ length: 18 }, (_, at) => (at % 6 === 5 ? all : window)),
  );
});

it("window cells are counted in steps of 256, and no more than the pool has", () => {
  expect(kvOf(GEMMA3, { slots: 1, batchTokens: 128 })[0]).toBe(ROW * 768);
  expect(kvOf(GEMMA3, { contextTokens: 1000 })[0]).toBe(ROW * 1024);
});

it("windows at full length are like other layers", () => {
  expect(kvOf(GEMMA3, { fullSlidingWindow: true })).toEqual(Array(18).fill(ROW * 32_768));
});

it("a further token of context costs only the layers that look at everything", () => {
  expect(estimated(GEMMA3).kvBytesPerToken).toBe(3 * ROW);
  expect(estimated(GEMMA3, { fullSlidingWindow: true }).kvBytesPerToken).toBe(18 * ROW);
});

it("a saved state of a slot has the rows of its window; one prompt leaves two of them", () => {
  expect(estimated(GEMMA3).checkpointBytes).toBe(15 * ROW * 512);
  expect(estimated(GEMMA3, { contextTokens: 256 }).checkpointBytes).toBe(15 * ROW * 256);
  expect(estimated(GEMMA3, { fullSlidingWindow: true }).checkpointBytes).toBe(0);
  const of = (checkpoints: number) =>
    estimate(summary(GEMMA3), WANT, { devices: 0, checkpoints }).workspace.host;
  expect(of(5) - of(0)).toBe(5 * WANT.slots * 15 * ROW * 512);
  expect(estimated(GEMMA3).workspace.host).toBe(of(2));
});

it("gemma4: the file lists its windows, whose heads are shorter, and the last layers share", () => {
  const gemma4: Given = {
    architecture: "gemma4",
    layers: 6,
    embeddingLength: 1536,
    heads: 8,
    kvHeads: 1,
    keyLength: 512,
    valueLength: 512,
    slidingWindow: 1024,
    attention: {
      slidingLayers: [true, true, false, true, true, false],
      slidingKeyLength: 256,
      slidingValueLength: 256,
      sharedKvLayers: 2,
    },
  };
  const window = 256 * 2 * 2 * (4 * 1024 + 512);
  const all = 512 * 2 * 2 * 32_768;
  expect(kvOf(gemma4)).toEqual([window, window, all, window, 0, 0]);
});

const windows = (given: Given) => {
  const [one = 0] = kvOf({
    ...given,
    layers: 1,
    kvHeads: 1,
    attention: { slidingLayers: [false] },
  });
  return kvOf(given, { slots: 1 }).map((kv) => kv < one);
};
const shape = { embeddingLength: 64, heads: 1, kvHeads: 1, slidingWindow: 128 };

it.each<[string, Given, boolean[]]>([
  ["gpt-oss", { layers: 4 }, [true, false, true, false]],
  ["cohere2", { layers: 4 }, [true, true, true, false]],
  ["cohere2moe", { layers: 4 }, [false, true, true, true]],
  ["gemma3", { layers: 4, attention: { slidingPeriod: 2 } }, [true, false, true, false]],
  ["gemma2", { layers: 2, slidingWindow: null }, [true, false]],
  ["llama4", { layers: 4, slidingWindow: null }, [true, true, true, false]],
  ["olmo2", { layers: 4, slidingWindow: null }, [false, false, false, false]],
  ["exaone4", { layers: 4 }, [false, false, false, false]],
  ["llama", { layers: 4 }, [false, false, false, false]],
  ["phi3", { layers: 4 }, [false, false, false, false]],
  ["qwen2", { layers: 4 }, [false, false, false, false]],
  ["step35", { layers: 2, attention: { slidingLayers: [false, true] } }, [false, true]],
  ["gemma3n", { layers: 22 }, [...Array(20).keys()].map((at) => at % 5 < 4).concat([true, true])],
])("which layers of %s have a window", (architecture, given, expected) => {
  expect(windows({ ...shape, architecture, ...given })).toEqual(expected);
});
