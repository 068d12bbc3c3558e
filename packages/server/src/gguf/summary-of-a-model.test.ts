import { expect, test } from "vitest";
import {
  type GgufSource,
  string,
  tinyBert,
  tinyLlama,
  tinyMoe,
  tinyProjector,
  withTemporaryFile,
} from "../../test/gguf/index.js";
import { readGguf } from "./index.js";

const summaryOf = (source: GgufSource) => withTemporaryFile(source, (path) => readGguf(path));

test("a dense decoder tells its shape, template and licence", async () => {
  expect(await summaryOf(tinyLlama())).toMatchObject({
    architecture: "llama",
    type: "model",
    name: "Tiny Llama",
    license: "apache-2.0",
    quantization: "F16",
    version: 3,
    tensorCount: 21,
    expertBytes: 0,
    layers: 2,
    contextLength: 2048,
    embeddingLength: 128,
    feedForwardLength: 256,
    heads: 4,
    headsPerLayer: null,
    kvHeads: 2,
    keyLength: null,
    experts: null,
    slidingWindow: null,
    recurrence: null,
    pooling: null,
    split: null,
    projector: null,
    vocabularySize: 394,
    chatTemplate: expect.stringContaining("add_generation_prompt"),
  });
});

test("a mixture of experts tells its experts and their bytes", async () => {
  const expertElements = 2 * 3 * 128 * 64 * 4;
  expect(await summaryOf(tinyMoe())).toMatchObject({
    architecture: "qwen3moe",
    experts: 4,
    expertsUsed: 2,
    expertFeedForwardLength: 64,
    keyLength: 32,
    valueLength: 32,
    expertBytes: expertElements * 2,
  });
});

test("an encoder tells its pooling and that it is not causal", async () => {
  expect(await summaryOf(tinyBert())).toMatchObject({
    architecture: "bert",
    pooling: "mean",
    attention: { causal: false },
    chatTemplate: null,
    kvHeads: null,
  });
});

test("a projector tells its encoder", async () => {
  expect(await summaryOf(tinyProjector())).toMatchObject({
    architecture: "clip",
    type: "mmproj",
    layers: null,
    projector: {
      vision: { projectorType: "mlp", layers: 2, embeddingLength: 64, projectionLength: 128 },
      audio: null,
      imageSize: 32,
      patchSize: 8,
    },
  });
});

test("a version 2 file is read like a version 3 file", async () => {
  const second = await summaryOf({ ...tinyLlama(), version: 2 });
  expect(second).toEqual({ ...(await summaryOf(tinyLlama())), version: 2 });
});

test("the parts of a split file tell their number, and later ones need no architecture", async () => {
  const first = tinyLlama();
  const part = (index: number): GgufSource["metadata"] => [
    ["split.no", { type: "u16", value: index }],
    ["split.count", { type: "u16", value: 2 }],
  ];
  const head = await summaryOf({ metadata: [...first.metadata, ...part(0)], tensors: [] });
  expect(head).toMatchObject({
    architecture: "llama",
    split: { index: 0, count: 2 },
    tensorBytes: 0,
  });
  const tail = await summaryOf({ metadata: part(1), tensors: first.tensors });
  expect(tail).toMatchObject({ architecture: "", split: { index: 1, count: 2 }, tensorCount: 21 });
});

test("keys named like the properties of every object do no harm", async () => {
  const source = tinyLlama();
  const metadata: GgufSource["metadata"] = [
    ...source.metadata,
    ["__proto__", string("x")],
    ["constructor", string("y")],
  ];
  expect((await summaryOf({ ...source, metadata })).architecture).toBe("llama");
});
