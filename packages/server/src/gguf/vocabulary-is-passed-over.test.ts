import { expect, test } from "vitest";
import { type GgufSource, tinyLlama, withTemporaryFile } from "../../test/gguf/index.js";
import { readGguf } from "./index.js";

const TOKENS = 150_000;

test("a vocabulary of many reads is counted and what follows it is found", async () => {
  const source = tinyLlama();
  const tokens = Array.from({ length: TOKENS }, (_, id) => "ü".repeat(id % 12));
  const metadata: GgufSource["metadata"] = [
    ["tokenizer.ggml.tokens", { type: "array", of: "string", values: tokens }],
    ["tokenizer.ggml.scores", { type: "array", of: "f32", values: tokens.map(() => 0) }],
    ...source.metadata.filter(([key]) => !/tokens$|scores$/.test(key)),
  ];
  const summary = await withTemporaryFile({ ...source, metadata }, (path) => readGguf(path));
  expect(summary).toMatchObject({ vocabularySize: TOKENS, architecture: "llama", layers: 2 });
});

test("a string longer than one read is passed over", async () => {
  const source = tinyLlama();
  const long = "x".repeat(3 * 1024 * 1024);
  const metadata: GgufSource["metadata"] = [
    ["tokenizer.ggml.tokens", { type: "array", of: "string", values: ["a", long, "b"] }],
    ["general.description", { type: "string", value: long }],
    ...source.metadata.filter(([key]) => !key.endsWith(".tokens")),
  ];
  const summary = await withTemporaryFile({ ...source, metadata }, (path) => readGguf(path));
  expect(summary).toMatchObject({ vocabularySize: 3, architecture: "llama" });
});
