import { expect, test } from "vitest";
import {
  type GgufSource,
  tinyBert,
  tinyLlama,
  tinyMoe,
  tinyProjector,
  withTemporaryFile,
} from "../../test/gguf/index.js";
import { readGguf } from "./index.js";

const layoutOf = async (source: GgufSource) =>
  (await withTemporaryFile(source, (path) => readGguf(path))).layout;

const F16 = 2;
const F32 = 4;
const VOCABULARY = 394;

test("each layer has the bytes of its tensors, experts counted apart as well", async () => {
  const attention = (128 * 128 * 2 + 128 * 64 * 2) * F16;
  const norms = 2 * 128 * F32;
  const headNorms = 2 * 32 * F32;
  const router = 128 * 4 * F32;
  const experts = 3 * 128 * 64 * 4 * F16;
  const layer = { bytes: attention + norms + headNorms + router + experts, expertBytes: experts };
  expect((await layoutOf(tinyMoe())).layers).toEqual([layer, layer]);
});

test("the bytes of layers and of the output head are told by tensor type as well", async () => {
  const { layers, layerTypes, outputTypes, tokenEmbeddingType } = await layoutOf(tinyMoe());
  const norms = 2 * 128 * F32 + 2 * 32 * F32;
  const router = 128 * 4 * F32;
  const types = { F32: norms + router, F16: layers[0]!.bytes - norms - router };
  expect(layerTypes).toEqual([types, types]);
  expect(outputTypes).toEqual({ F16: 128 * VOCABULARY * F16, F32: 128 * F32 });
  expect(tokenEmbeddingType).toBe("F16");
});

test("input, output and the rest lie outside the layers", async () => {
  expect(await layoutOf(tinyLlama())).toMatchObject({
    inputBytes: 128 * VOCABULARY * F16,
    tokenEmbeddingBytes: 128 * VOCABULARY * F16,
    outputBytes: 128 * VOCABULARY * F16 + 128 * F32,
    otherBytes: 0,
    hasOutputWeight: true,
  });
});

test("a model without an output head says so", async () => {
  const source = tinyLlama();
  const tensors = source.tensors.filter(({ name }) => name !== "output.weight");
  expect(await layoutOf({ ...source, tensors })).toMatchObject({
    outputBytes: 128 * F32,
    hasOutputWeight: false,
  });
});

test.each([tinyLlama, tinyMoe, tinyBert, tinyProjector])(
  "the parts of the layout add up to all tensor bytes (%o)",
  async (make) => {
    const summary = await withTemporaryFile(make(), (path) => readGguf(path));
    const { layers, inputBytes, outputBytes, otherBytes } = summary.layout;
    const inLayers = layers.reduce((total, { bytes }) => total + bytes, 0);
    expect(inLayers + inputBytes + outputBytes + otherBytes).toBe(summary.tensorBytes);
  },
);
