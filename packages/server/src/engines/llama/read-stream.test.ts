import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import { CallReader } from "./calls/index.js";
import { BrokenStream, type ReadOptions, readStream } from "./read-stream.js";

/** Sent by build 11434 for a short answer with log probabilities. */
const RECORDED = readFileSync(new URL("./__fixtures__/chat-11434.sse", import.meta.url));

async function* pieces(...bytes: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const piece of bytes) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

async function read(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions = { choice: 0 },
): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = [];
  for await (const event of readStream(source, options)) events.push(event);
  return events;
}

async function readUntilError(source: AsyncIterable<Uint8Array>) {
  const events: GenerationEvent[] = [];
  try {
    for await (const event of readStream(source, { choice: 0 })) events.push(event);
  } catch (error) {
    return { events, error };
  }
  throw new Error("it should have failed");
}

const event = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
const text = (content: string) => event({ choices: [{ delta: { content }, finish_reason: null }] });
const FINISH = event({ choices: [{ delta: {}, finish_reason: "stop" }] });
const DONE = "data: [DONE]\n\n";

const EXPECTED: GenerationEvent[] = [
  { type: "start", promptTokens: 34, cachedTokens: 0 },
  { type: "progress", promptTokens: 34, cachedTokens: 0, done: 0 },
  { type: "progress", promptTokens: 34, cachedTokens: 0, done: 34 },
  {
    type: "text",
    choice: 1,
    text: "Grüß",
    logprobs: [
      {
        token: "Grüß",
        logprob: -0.7049424648284912,
        bytes: [71, 114, 195, 188, 195, 159],
        top_logprobs: [
          { token: "Grüß", logprob: -0.7049424648284912, bytes: [71, 114, 195, 188, 195, 159] },
        ],
      },
    ],
  },
  { type: "finish", choice: 1, reason: "stop" },
  {
    type: "usage",
    choice: 1,
    usage: { promptTokens: 34, completionTokens: 2, cachedTokens: 0 },
    timings: { prefillMs: 1824.165, decodeMs: 301.177, prefillTokens: 34, decodeTokens: 2 },
  },
];

describe("readStream", () => {
  it("reads the same events wherever the bytes are cut", async () => {
    const options = { choice: 1, topLogprobs: 1 };
    expect(await read(pieces(RECORDED), options)).toEqual(EXPECTED);
    for (let at = 1; at < RECORDED.length; at++) {
      const cut = pieces(RECORDED.subarray(0, at), RECORDED.subarray(at));
      expect(await read(cut, options)).toEqual(EXPECTED);
    }
    expect(
      await read(pieces(...Array.from(RECORDED, (byte) => Uint8Array.of(byte))), options),
    ).toEqual(EXPECTED);
  });

  it("gives only as many likely tokens as were asked for", async () => {
    const events = await read(pieces(RECORDED), { choice: 0, topLogprobs: 0 });
    const [token] = events.flatMap((e) => (e.type === "text" ? (e.logprobs ?? []) : []));
    expect(token).toMatchObject({ token: "Grüß", top_logprobs: [] });
    const without = await read(pieces(RECORDED), { choice: 0 });
    expect(without.find((e) => e.type === "text")).not.toHaveProperty("logprobs");
  });

  it("gives a very unlikely token a number that JSON and clients can hold", async () => {
    const entry = { token: "x", bytes: [120], logprob: -3.4028234663852886e38, top_logprobs: [] };
    const chunk = event({ choices: [{ delta: { content: "x" }, logprobs: { content: [entry] } }] });
    const events = await read(pieces(chunk, FINISH, DONE), { choice: 0, topLogprobs: 1 });
    expect(events.find((e) => e.type === "text")).toMatchObject({ logprobs: [{ logprob: -9999 }] });
  });

  it("tells thinking from answering", async () => {
    const thought = event({ choices: [{ delta: { reasoning_content: "hm" } }] });
    expect(await read(pieces(thought, text("yes"), FINISH, DONE))).toEqual([
      { type: "start" },
      { type: "reasoning", choice: 0, text: "hm" },
      { type: "text", choice: 0, text: "yes" },
      { type: "finish", choice: 0, reason: "stop" },
    ]);
  });

  it("passes over pings, empty deltas and what it does not know", async () => {
    const odd = [
      ":\n\n",
      ": ping\n\n",
      "event: other\nretry: 5\n\n",
      event({ choices: [{ delta: { role: "assistant", content: null } }] }),
      event({ choices: [{ delta: { content: "" } }] }),
      event({ choices: [] }),
      event({ choices: [null] }),
      event({
        novelty: [1, { a: 2 }],
        choices: [{ delta: { content: "a", mood: "good" }, extra: 1 }],
      }),
      event([]),
      event(null),
      event({ usage: null, timings: "later", prompt_progress: 3 }),
    ];
    expect(await read(pieces(...odd, FINISH, DONE))).toEqual([
      { type: "start" },
      { type: "text", choice: 0, text: "a" },
      { type: "finish", choice: 0, reason: "stop" },
    ]);
  });

  it("does not take a begun answer of the prompt for generated text", async () => {
    const role = event({ choices: [{ delta: { role: "assistant", content: null } }] });
    const begun = event({
      choices: [{ delta: { content: "Once upon" } }],
      prompt_progress: { total: 9, cache: 3, processed: 3, time_ms: 0 },
    });
    expect(await read(pieces(role, begun, text(" a time"), FINISH, DONE))).toEqual([
      { type: "start", promptTokens: 9, cachedTokens: 3 },
      { type: "progress", promptTokens: 9, cachedTokens: 3, done: 3 },
      { type: "text", choice: 0, text: " a time" },
      { type: "finish", choice: 0, reason: "stop" },
    ]);
  });

  it("takes numbers that make no sense for absent", async () => {
    const usage = event({
      choices: [],
      usage: { prompt_tokens: "many" },
      timings: { prompt_ms: null },
    });
    expect(await read(pieces(FINISH, usage, DONE))).toContainEqual({
      type: "usage",
      choice: 0,
      usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
    });
  });

  it("replaces bytes that are no UTF-8", async () => {
    const broken = Buffer.concat([
      Buffer.from('data: {"choices":[{"delta":{"content":"a'),
      Buffer.from([0xff]),
      Buffer.from('b"}}]}\n\n'),
    ]);
    expect(await read(pieces(broken, FINISH, DONE))).toContainEqual({
      type: "text",
      choice: 0,
      text: "a\ufffdb",
    });
  });

  it("throws an error object after what came before it", async () => {
    const failure = event({
      error: { code: 500, message: "Compute error.", type: "server_error" },
    });
    const { events, error } = await readUntilError(pieces(`${text("a")}${failure}${text("b")}`));
    expect(events).toContainEqual({ type: "text", choice: 0, text: "a" });
    expect(events).not.toContainEqual({ type: "text", choice: 0, text: "b" });
    expect(error).toBeInstanceOf(SomnusError);
    expect(error).toMatchObject({ code: "engine_failed" });
  });

  it.each([
    ["a stream without an end", [text("a")]],
    ["half an event", [text("a"), 'data: {"choices":[{"del']],
    ["an end without a finish", [text("a"), DONE]],
    ["nothing at all", []],
    ["an event that is not JSON", [text("a"), "data: {oops\n\n", FINISH, DONE]],
  ])("takes %s for a broken answer", async (_what, source) => {
    const { error } = await readUntilError(pieces(...source));
    expect(error).toBeInstanceOf(BrokenStream);
  });

  it("does not gather an endless event", async () => {
    async function* endless() {
      yield Buffer.from("data: ");
      for (let at = 0; at < 400; at++) yield Buffer.alloc(64 * 1024, "x");
    }
    const { error } = await readUntilError(endless());
    expect(error).toBeInstanceOf(BrokenStream);
  });

  it("asks for bytes only when its reader asks for events", async () => {
    let given = 0;
    async function* source() {
      for (let at = 0; at < 100; at++) {
        given++;
        yield Buffer.from(text("a"));
      }
    }
    const events = readStream(source(), { choice: 0 });
    await events.next();
    await events.next();
    expect(given).toBe(1);
    await events.return();
  });
});

describe("readStream of an answer that may hold calls", () => {
  const offer = {
    tools: [{ name: "add", parameters: { type: "object" } }],
    choice: "auto" as const,
    parallel: true,
  };
  const progress = event({
    choices: [{ delta: { role: "assistant" } }],
    prompt_progress: { total: 4, cache: 1, processed: 4 },
  });
  const called = (args: string, name?: string) =>
    event({
      choices: [{ delta: { tool_calls: [{ index: 0, function: { name, arguments: args } }] } }],
    });

  it("gives the engine's fragments as one call, and a sign of life for each", async () => {
    const bytes = pieces(progress, text("So:"), called("", "add"), called("{}"), FINISH, DONE);
    const events = await read(bytes, { choice: 0, calls: new CallReader(offer, 0) });
    const sign = { type: "progress", promptTokens: 4, cachedTokens: 1, done: 4 };
    expect(events).toMatchObject([
      { type: "start" },
      sign,
      { type: "text", text: "So:" },
      sign,
      sign,
      { type: "call", call: { name: "add", arguments: "{}" } },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it("fails at its end when a call had to come and none did", async () => {
    const calls = new CallReader({ ...offer, choice: "required" }, 0);
    const bytes = pieces(text("No."), FINISH, DONE);
    await expect(read(bytes, { choice: 0, calls })).rejects.toThrow("did not call");
  });
});
