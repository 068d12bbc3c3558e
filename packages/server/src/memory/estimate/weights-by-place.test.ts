import { expect, it } from "vitest";
import { type Given, MINILM, SMOLLM2, summary } from "./__fixtures__/summary.js";
import { type EstimateOptions, estimate, totalsOf } from "./index.js";

const WANT = { contextTokens: 2048, slots: 2, batchTokens: 512 };
const of = (given: Given, options: Partial<EstimateOptions> = {}) =>
  estimate(summary(given), WANT, { devices: 0, ...options });

const LAYOUT: Given["layout"] = {
  layers: [
    { bytes: 1000, expertBytes: 0 },
    { bytes: 9000, expertBytes: 8000 },
  ],
  layerTypes: [
    { F32: 100, Q4_K: 900 },
    { Q4_K: 500, Q6_K: 500, Q8_0: 8000 },
  ],
  inputBytes: 300,
  tokenEmbeddingBytes: 250,
  tokenEmbeddingType: "Q4_K",
  outputBytes: 400,
  outputTypes: { F32: 40, Q6_K: 360 },
  otherBytes: 7,
};

it("experts are counted apart from the other weights of their layer", () => {
  const { layers, inputWeights, outputWeights } = of({ layers: 2, layout: LAYOUT });
  expect(layers.map(({ weights, experts }) => [weights, experts])).toEqual([
    [1000, 0],
    [1000, 8000],
  ]);
  expect([inputWeights, outputWeights]).toEqual([307, 400]);
});

it("a device gets a copy of a token embedding that is the output head too", () => {
  const tied: Given = { layers: 2, layout: { ...LAYOUT, hasOutputWeight: false } };
  expect(of(tied).outputWeights).toBe(400);
  expect(of(tied, { devices: 1 }).outputWeights).toBe(650);
});

it("a processor keeps weights of some types a second time, an engine with devices none", () => {
  const model: Given = { layers: 2, layout: LAYOUT };
  const plain = of(model, { processor: [] });
  const avx2 = of(model);
  expect(avx2.repackedWeights).toBe(1400);
  expect(avx2.process.host - plain.process.host).toBe(1400);
  expect(of(model, { processor: ["dotprod"] }).repackedWeights).toBe(900 + 500 + 500 + 8000 + 360);
  expect(of(model, { devices: 1 }).repackedWeights).toBe(0);
});

it("a tied output head is kept a second time as well", () => {
  const tied: Given = { layers: 2, layout: { ...LAYOUT, hasOutputWeight: false } };
  expect(of(tied).repackedWeights).toBe(1650);
});

it("a projector brings its weights and the memory of one picture, which is said to be unmeasured", () => {
  const encoder = {
    projectorType: "mlp",
    layers: 24,
    embeddingLength: 1024,
    projectionLength: 4096,
  };
  const projector = summary({
    architecture: "clip",
    tensorBytes: 5000,
    projector: { vision: encoder, audio: null, imageSize: 336, patchSize: 14 },
  });
  const model: Given = { layers: 2, layout: LAYOUT };
  const without = of(model);
  const found = of(model, { projector });
  expect(found.projectorWeights).toBe(5000);
  expect(found.workspace.host - without.workspace.host).toBe(24 * 24 * 1024 * 14 * 4);
  expect(found.omissions).toEqual([expect.stringContaining("projector")]);
  expect(without.omissions).toEqual([]);
});

it("logits of each slot, and for an encoder logits and vector of each token of a batch", () => {
  const bytes = (given: Given) => {
    const { workspace, compute } = of(given);
    return workspace.host - compute!.host;
  };
  expect(bytes({ ...SMOLLM2 }) - bytes({ ...SMOLLM2, vocabularySize: 0 })).toBeGreaterThanOrEqual(
    2 * 49_152 * 4,
  );
  expect(bytes(MINILM)).toBeGreaterThanOrEqual((30_522 + 384) * 512 * 4);
});

it("with devices their compute buffer is on the device, inputs and answers on the host", () => {
  const alone = of(SMOLLM2);
  const device = of(SMOLLM2, { devices: 1 });
  expect(device.compute!.device).toBeGreaterThan(0.9 * alone.compute!.host);
  expect(device.workspace.host).toBeLessThan(alone.workspace.host);
  expect(device.workspaceAlone).toBe(alone.workspace.host);
  expect(device.process.device).toBeGreaterThan(0);
  expect(device.omissions).not.toEqual([]);
});

it("an architecture whose memory is larger than the formulas says so", () => {
  expect(of({ architecture: "deepseek4", layers: 2 }).omissions).toEqual([
    expect.stringContaining("deepseek4"),
  ]);
});

it("the sums add up", () => {
  const found = of({ ...SMOLLM2, layers: 2, layout: LAYOUT });
  const { weights, kv, workspace, process, total } = totalsOf(found);
  expect(weights).toBe(1000 + 9000 + 307 + 400);
  expect(kv).toBe(2 * 3 * 64 * 2 * 2 * 2048);
  expect(total).toBe(weights + kv + workspace + process);
});
