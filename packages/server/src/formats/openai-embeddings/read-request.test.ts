import type { EmbeddingsRequest } from "@somnus/contract";
import { describe, expect, it } from "vitest";
import { readEmbeddingsRequest } from "./index.js";

const read = (body: Partial<EmbeddingsRequest>, most = 100) =>
  readEmbeddingsRequest({ input: "a", ...body }, { max_prompt_chars: most });

describe("an embeddings request", () => {
  it.each([
    ["text", [{ param: "input", text: "text" }]],
    [
      ["a", "b"],
      [
        { param: "input[0]", text: "a" },
        { param: "input[1]", text: "b" },
      ],
    ],
    [[5, 6], [{ param: "input", tokens: [5, 6] }]],
    [
      [[5], [6, 7]],
      [
        { param: "input[0]", tokens: [5] },
        { param: "input[1]", tokens: [6, 7] },
      ],
    ],
  ])("may have the input %j", (input, inputs) => {
    expect(read({ input }).inputs).toEqual(inputs);
  });

  it.each([
    ["", "input"],
    [[], "input"],
    [["a", ""], "input[1]"],
    [[[]], "input[0]"],
    [[[1], []], "input[1]"],
  ])("is refused by name where it has nothing: %j", (input, param) => {
    expect(() => read({ input })).toThrow(
      expect.objectContaining({ code: "invalid_request", param }),
    );
  });

  it("has at most 2048 inputs, and characters of all of them within the limit", () => {
    expect(read({ input: Array(2048).fill("a") }, 5_000).inputs).toHaveLength(2048);
    const refused = expect.objectContaining({ code: "invalid_request", param: "input" });
    expect(() => read({ input: Array(2049).fill("a") }, 5_000)).toThrow(refused);
    expect(() => read({ input: ["a".repeat(60), "b".repeat(60)] })).toThrow(refused);
    expect(() => read({ input: Array(101).fill(1) })).toThrow(refused);
  });

  it("takes null for what is left out", () => {
    const nothing = {
      model: null,
      encoding_format: null,
      dimensions: null,
      truncate: null,
      keep_alive: null,
    };
    expect(read(nothing)).toEqual({
      model: undefined,
      inputs: [{ param: "input", text: "a" }],
      encoding: "float",
      truncate: false,
      keepAliveMs: null,
    });
    expect(read({ keep_alive: "5m", dimensions: 8 })).toMatchObject({
      keepAliveMs: 300_000,
      dimensions: 8,
    });
  });
});
