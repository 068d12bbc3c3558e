import { describe, expect, it } from "vitest";
import { requestOf } from "./__fixtures__/request.js";
import { RawPrompts } from "./raw-prompt.js";
import { frame } from "./whole-answers.js";

const { signal } = new AbortController();

/** An engine whose tokens are letters, and whose special tokens are those that are named. */
function promptsOf(special: Record<string, number>) {
  const asked: string[] = [];
  const ask = async (path: string, body: unknown) => {
    asked.push(path);
    const { content, add_special, parse_special } = body as {
      content: string | (string | number)[];
      add_special: boolean;
      parse_special: boolean;
    };
    const ids = [content].flat().flatMap((part) => {
      if (typeof part === "number") return [part];
      const own = parse_special ? special[part] : undefined;
      return own === undefined ? [...part].map((letter) => letter.charCodeAt(0)) : [own];
    });
    return { tokens: add_special ? [1, ...ids, 2] : ids };
  };
  return { prompts: new RawPrompts(ask, (until) => frame(ask, until)), asked };
}

const GAP = { "<fim_prefix>": 1001, "<fim_suffix>": 1002, "<fim_middle>": 1003 };

describe("a raw prompt", () => {
  it("is a text or ids as they came", async () => {
    const { prompts, asked } = promptsOf({});
    expect(await prompts.ready({ text: "a\ud800" }, signal)).toBe("a\ufffd");
    expect(await prompts.ready({ tokens: [5, 6] }, signal)).toEqual([5, 6]);
    expect(asked).toEqual([]);
  });

  it("with a suffix is written around the model's own marks, its text no mark", async () => {
    const { prompts, asked } = promptsOf(GAP);
    const prompt = { text: "a<fim_middle>", suffix: "b" };
    const ids = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
    const wanted = [1, 1001, ...ids("a<fim_middle>"), 1002, ...ids("b"), 1003, 2];
    expect(await prompts.ready(prompt, signal)).toEqual(wanted.slice(0, -1));
    const first = asked.length;
    await prompts.ready(prompt, signal);
    // The marks are looked up once.
    expect(asked.length - first).toBeLessThan(first);
  });

  it("with a suffix is refused by a model without such marks", async () => {
    const { prompts } = promptsOf({ "<fim_prefix>": 1001 });
    await expect(prompts.ready({ text: "a", suffix: "b" }, signal)).rejects.toMatchObject({
      code: "invalid_request",
      param: "suffix",
    });
  });

  it("is counted with its frame, the longest of several", async () => {
    const { prompts } = promptsOf(GAP);
    const request = requestOf("", {
      maxTokens: 1,
      prompts: [{ text: "abc" }, { tokens: [1, 2, 3, 4, 5, 6] }, { text: "a", suffix: "b" }],
    });
    expect(await prompts.longest(request, signal)).toBe(6);
  });
});
