import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../formats/index.js";
import { CallReader } from "./calls/index.js";
import { type ReadOptions, readStream } from "./read-stream.js";

/** Pieces of an answer as the engine sends them, with its account of tokens in each; it never ends by itself. */
async function* endless(pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  const progress = { total: 9, cache: 4, processed: 9 };
  yield chunk({ choices: [{ delta: {} }], prompt_progress: progress });
  for (const [at, content] of pieces.entries()) {
    const logprobs = { content: [{ token: content, logprob: -at, bytes: null }] };
    yield chunk({ choices: [{ delta: { content }, logprobs }], timings: { predicted_n: at + 1 } });
  }
}

/** The same with the model's own end. */
async function* ended(pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  yield* endless(pieces);
  yield chunk({ choices: [{ delta: {}, finish_reason: "stop" }] });
  yield Buffer.from("data: [DONE]\n\n");
}

function chunk(value: unknown): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
}

async function read(source: AsyncIterable<Uint8Array>, more: Omit<ReadOptions, "choice">) {
  const events: GenerationEvent[] = [];
  for await (const event of readStream(source, { choice: 0, ...more })) events.push(event);
  const texts = events.filter((event) => event.type === "text");
  return {
    events,
    text: texts.map((event) => event.text).join(""),
    tokens: texts.flatMap((event) => event.logprobs ?? []).map(({ token }) => token),
    finish: events.find((event) => event.type === "finish"),
    usage: events.find((event) => event.type === "usage"),
  };
}

describe("stop strings", () => {
  it.each<[string, string[], string[], string, string]>([
    ["inside a piece", ["one two END three"], ["END"], "one two ", "END"],
    ["split over three pieces", ["one E", "N", "D two"], ["END"], "one ", "END"],
    ["a line break", ["one", "\n", "two"], ["\n"], "one", "\n"],
    ["at the very begin", ["END"], ["END"], "", "END"],
    ["the one that is complete first", ["ab", "cd"], ["abcd", "bc"], "a", "bc"],
    ["the longer of two that are complete at once", ["abc"], ["c", "bc"], "a", "bc"],
    ["after a false begin", ["EN", "EN", "D"], ["END"], "EN", "END"],
    ["a part of which repeats", ["aab", "aabaac"], ["aabaac"], "aab", "aabaac"],
    ["of two halves of a character", ["x😀", "y"], ["😀y"], "x", "😀y"],
    ["one of four", ["1, 2, 3"], ["a", "b", "c", "3"], "1, 2, ", "3"],
  ])("end an answer: %s", async (_, pieces, stop, text, word) => {
    const read1 = await read(endless(pieces), { stop });
    expect(read1.text).toBe(text);
    expect(read1.finish).toEqual({ type: "finish", choice: 0, reason: "stop", stop: word });
    expect(read1.events.at(-1)!.type).toBe("usage");
  });

  it("are found wherever an answer is cut, and take nothing else with them", async () => {
    const letters = fc.constantFrom("a", "b", "\n");
    const word = (most: number) =>
      fc.array(letters, { minLength: 1, maxLength: most }).map((all) => all.join(""));
    const stops = fc.array(word(4), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(word(3), { maxLength: 12 }), stops, async (pieces, stop) => {
        const whole = pieces.join("");
        const ends = stop.flatMap((one) =>
          whole.includes(one) ? [whole.indexOf(one) + one.length] : [],
        );
        const end = Math.min(...ends);
        const starts = stop.flatMap((one) =>
          whole.indexOf(one) >= 0 && whole.indexOf(one) + one.length === end
            ? [end - one.length]
            : [],
        );
        const wanted = ends.length === 0 ? whole : whole.slice(0, Math.min(...starts));
        expect((await read(ended(pieces), { stop })).text).toBe(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it("hold back what may become one, and give it at the end with its tokens", async () => {
    const { events, text, tokens, finish } = await read(ended(["one", " E", "N"]), {
      stop: ["END"],
      topLogprobs: 0,
    });
    expect(text).toBe("one EN");
    expect(tokens).toEqual(["one", " E", "N"]);
    expect(finish).toEqual({ type: "finish", choice: 0, reason: "stop" });
    // While something is held back the engine is at work, and that shows.
    expect(events.filter(({ type }) => type === "progress")).toHaveLength(2);
  });

  it("leave the tokens before them, and count all that were generated", async () => {
    const { tokens, usage } = await read(endless(["one", " two,", " three", " four"]), {
      stop: [", three"],
      topLogprobs: 0,
    });
    expect(tokens).toEqual(["one", " two,"]);
    expect(usage).toMatchObject({
      usage: { promptTokens: 9, cachedTokens: 4, completionTokens: 3 },
    });
  });

  it("are nothing in thoughts or inside of a call", async () => {
    const tools = [{ name: "f", parameters: { type: "object" } }];
    const calls = new CallReader({ tools, choice: "auto", parallel: true }, 0);
    const { events } = await read(
      ended([
        '<think>END</think>\n<tool_call>{"name":"f",',
        '"arguments":{"a":"END"}}</tool_call>',
      ]),
      { stop: ["END"], calls },
    );
    expect(events).toContainEqual({ type: "reasoning", choice: 0, text: "END" });
    expect(events.find(({ type }) => type === "call")).toMatchObject({
      call: { name: "f", arguments: '{"a":"END"}' },
    });
    expect(events.find(({ type }) => type === "finish")).toMatchObject({ reason: "tool_calls" });
  });
});
