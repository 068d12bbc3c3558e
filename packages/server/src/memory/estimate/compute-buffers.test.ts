import { expect, it } from "vitest";
import { GEMMA3, type Given, MINILM, QWEN, SMOLLM2, summary } from "./__fixtures__/summary.js";
import { Graph } from "./graph/graph-memory.js";
import { estimate } from "./index.js";

const MIB = 2 ** 20;

/** The shape of the model that `writeTinyMoe` writes. */
const EXPERTS: Given = {
  architecture: "qwen3moe",
  layers: 2,
  embeddingLength: 128,
  heads: 4,
  kvHeads: 2,
  feedForwardLength: 256,
  vocabularySize: 394,
  experts: 4,
  expertsUsed: 2,
  expertFeedForwardLength: 64,
  layout: { layers: Array(2).fill({ bytes: 200_000, expertBytes: 100_000 }) },
};

/** From the logs of llama-server build 11434 with these models and settings, on a processor. */
it.each<[string, Given, [context: number, slots: number, batch: number, cache: string], number]>([
  ["SmolLM2-135M", SMOLLM2, [2048, 1, 512, "f16"], 16.6426],
  ["SmolLM2-135M", SMOLLM2, [32_768, 4, 128, "f16"], 11.6607],
  ["SmolLM2-135M", SMOLLM2, [8192, 4, 512, "q8_0"], 22.6739],
  ["Qwen2.5-Coder-0.5B", QWEN, [2048, 1, 128, "f16"], 9.8169],
  ["Qwen2.5-Coder-0.5B", QWEN, [8192, 4, 512, "q8_0"], 45.2989],
  ["gemma-3-270m", GEMMA3, [2048, 4, 128, "f16"], 6.5694],
  ["gemma-3-270m", GEMMA3, [8192, 4, 128, "q8_0"], 7.6631],
  ["gemma-3-270m", GEMMA3, [32_768, 1, 512, "q8_0"], 51.8086],
  ["all-MiniLM-L6-v2", MINILM, [2048, 1, 512, "f16"], 7.2637],
  ["all-MiniLM-L6-v2", MINILM, [2048, 4, 128, "f16"], 1.7236],
  ["a small mixture of experts", EXPERTS, [4096, 2, 512, "f16"], 5.7676],
])(
  "%s: the buffer that the engine reserved %o",
  (_, given, [context, slots, batch, cache], size) => {
    const want = {
      contextTokens: context,
      slots,
      batchTokens: batch,
      cacheTypeK: cache,
      cacheTypeV: cache,
    };
    const { compute } = estimate(summary(given), want, { devices: 0 });
    expect((compute!.host / MIB).toFixed(4)).toBe(size.toFixed(4));
  },
);

it("without flash attention the scores of all heads are laid out", () => {
  const want = { contextTokens: 8192, slots: 2, batchTokens: 512, flashAttention: false };
  const { compute } = estimate(summary(SMOLLM2), want, { devices: 0 });
  // The engine reserved 167.51 MiB: 9 heads x 8192 cells x 512 tokens x 4 bytes are 144 of them.
  expect(Math.abs(compute!.host / MIB / 167.5137 - 1)).toBeLessThan(0.01);
});

it("a tensor takes the place of one that is not needed any more", () => {
  const graph = new Graph();
  const input = graph.input(100);
  const a = graph.compute(1000, [input]);
  const b = graph.overwrite(1000, [a]);
  graph.compute(500, [b], true);
  // 128 for the input, 1024 for a and b together, 512 for the last: it is made while b is there.
  expect(graph.bufferBytes()).toBe(128 + 1024 + 512);
});

it("a tensor that is needed later is not overwritten", () => {
  const graph = new Graph();
  const a = graph.compute(1024, []);
  const b = graph.overwrite(1024, [a]);
  graph.compute(1024, [a, b]);
  expect(graph.bufferBytes()).toBe(3 * 1024);
});

it("the smallest gap that fits is taken, and gaps side by side become one", () => {
  const graph = new Graph();
  const parts = [64, 128, 64, 32, 64].map((bytes) => graph.compute(bytes, []));
  const [first, large, middle, , last] = parts;
  graph.use([large!]);
  graph.use([middle!]);
  // Of 192 bytes freed, 96 are taken; the next 96 fit beside them.
  const one = graph.compute(96, [first!]);
  const two = graph.compute(96, [last!]);
  graph.use([one, two]);
  expect(graph.bufferBytes()).toBe(64 + 128 + 64 + 32 + 64);
});
