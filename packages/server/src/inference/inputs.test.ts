import { describe, expect, it } from "vitest";
import type { EmbeddingInput } from "../formats/openai-embeddings/index.js";
import { framedTokens, roundsOf, tokenBound } from "./inputs.js";

const NEVER = new AbortController().signal;

/** A tokenizer with a token for each character, between 1 and 2. */
const lease = {
  frame: async () => ({ before: [1], after: [2] }),
  tokenize: async (texts: readonly string[]) =>
    texts.map((text) => [...text].map((letter) => letter.codePointAt(0)!)),
};

function framed(inputs: EmbeddingInput[], truncate = false): Promise<number[][]> {
  return framedTokens(lease, inputs, { model: "m", longest: 6, truncate }, NEVER);
}

describe("inputs as tokens", () => {
  it("get what the model has around a text, and only once", async () => {
    expect(
      await framed([
        { param: "input[0]", text: "ab" },
        { param: "input[1]", tokens: [7, 8] },
        { param: "input[2]", text: "c" },
        { param: "input[3]", tokens: [1, 7, 2] },
        { param: "input[4]", tokens: [1, 7] },
        { param: "input[5]", tokens: [7, 2] },
      ]),
    ).toEqual([
      [1, 97, 98, 2],
      [1, 7, 8, 2],
      [1, 99, 2],
      [1, 7, 2],
      [1, 7, 2],
      [1, 7, 2],
    ]);
  });

  it("that are nothing but the frame stay so", async () => {
    const inputs = [[1, 2], [2], [1]].map((tokens) => ({ param: "input", tokens }));
    expect(await framed(inputs)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it("may fill the model to the last token; one more is refused with the count", async () => {
    expect(await framed([{ param: "input", text: "abcd" }])).toEqual([[1, 97, 98, 99, 100, 2]]);
    for (const input of [
      { text: "abcde" },
      { tokens: [5, 6, 7, 8, 9] },
      { tokens: [1, 5, 6, 7, 8, 9, 2] },
    ]) {
      await expect(framed([{ param: "input[3]", ...input }])).rejects.toMatchObject({
        code: "context_length_exceeded",
        param: "input[3]",
        message: expect.stringMatching(/input\[3\] has 7 tokens, and m takes 6 at most/),
      });
    }
  });

  it("are cut at their end where that was asked for, with the frame kept", async () => {
    expect(await framed([{ param: "input", text: "abcdefgh" }], true)).toEqual([
      [1, 97, 98, 99, 100, 2],
    ]);
  });

  it("never have more tokens than bytes and a frame", () => {
    expect(tokenBound({ text: "äb" })).toBeGreaterThanOrEqual(3 + 2);
    expect(tokenBound({ tokens: [1, 2, 3] })).toBeGreaterThanOrEqual(3 + 2);
  });
});

describe("rounds", () => {
  it("take inputs in their order, each as many as there is room for", () => {
    expect(roundsOf([3, 3, 3, 9, 1, 1], 6)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 3 },
      { from: 3, to: 4 },
      { from: 4, to: 6 },
    ]);
    expect(roundsOf([], 6)).toEqual([]);
    expect(roundsOf([1], 6)).toEqual([{ from: 0, to: 1 }]);
  });
});
