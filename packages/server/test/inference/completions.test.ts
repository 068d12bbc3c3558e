import type { CompletionChunk, CompletionResponse } from "@somnus/contract";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
let sdk: OpenAI;
beforeAll(async () => {
  server = await startTestServer({});
  sdk = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

const MANY = "one two three";

async function complete(fields: Record<string, unknown>): Promise<CompletionResponse> {
  const response = await server.post("/v1/completions", { model: "tiny", prompt: MANY, ...fields });
  expect(response.status).toBe(200);
  return (await response.json()) as CompletionResponse;
}

async function stream(fields: Record<string, unknown>): Promise<CompletionChunk[]> {
  const body = { model: "tiny", prompt: MANY, stream: true, ...fields };
  const response = await server.post("/v1/completions", body);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  return (await readChunks(response)) as CompletionChunk[];
}

async function refusal(fields: Record<string, unknown>) {
  const response = await server.post("/v1/completions", { model: "tiny", prompt: MANY, ...fields });
  const { error } = (await response.json()) as { error: { param: string; message: string } };
  return { status: response.status, param: error.param, message: error.message };
}

const lastBody = async () =>
  (await server.engine.journal()).findLast(({ event }) => event === "request")!.body!;

describe("a completion", () => {
  it("goes on with a text that no template has touched", async () => {
    const answer = await complete({ temperature: 0.5, seed: 3 });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^cmpl-[0-9a-f]{32}$/),
      object: "text_completion",
      model: "tiny",
      choices: [{ text: MANY, index: 0, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
    });
    expect(answer.hypnos_telemetry.placement.primary_tier).toBe("tier1_gpu_vram");
    expect(await lastBody()).toMatchObject({ prompt: MANY, temperature: 0.5, seed: 3 });
  });

  it.each<[string, unknown, unknown[]]>([
    ["texts", ["a b", "c"], ["a b", "c"]],
    ["token ids", [1, 2, 3], ["3 tokens"]],
    ["lists of token ids", [[1], [2, 3]], ["1 tokens", "2 tokens"]],
  ])("takes %s as its prompt", async (_, prompt, texts) => {
    const { choices } = await complete({ prompt });
    expect(choices.map(({ text }) => text)).toEqual(texts);
    expect(choices.map(({ index }) => index)).toEqual(texts.map((_text, index) => index));
  });

  it("counts each prompt once, whatever n is, and numbers its choices on", async () => {
    const { choices, usage } = await complete({ prompt: ["a b", "c"], n: 2 });
    expect(choices.map(({ index, text }) => `${index} ${text}`)).toEqual([
      "0 a b",
      "1 a b",
      "2 c",
      "3 c",
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 6 });
  });

  it("repeats its prompt where it is asked to, ids as their text", async () => {
    const { choices } = await complete({ echo: true, prompt: ["x ", "y "] });
    expect(choices.map(({ text }) => text)).toEqual(["x x ", "y y "]);
    const [first] = (await complete({ echo: true, prompt: [7, 8] })).choices;
    expect(first!.text).toBe("7 82 tokens");
    const chunks = await stream({ echo: true });
    expect(chunks[0]!.choices[0]!.text).toBe(MANY);
  });

  it("gives log probabilities as lists with offsets, streamed as well", async () => {
    const prompt = "[[say:ä😀 two three]]";
    const [whole] = (await complete({ logprobs: 2, prompt })).choices;
    const { logprobs } = whole!;
    expect(logprobs!.tokens).toEqual(["ä😀", " two", " three"]);
    expect(logprobs!.token_logprobs).toEqual([-0.5, -0.5, -0.5]);
    expect(logprobs!.text_offset).toEqual([0, 2, 6]);
    expect(logprobs!.top_logprobs[1]).toEqual({ " two": -0.5, " two1": -1.5 });
    const lists = (await stream({ logprobs: 2, prompt })).map(
      (chunk) => chunk.choices[0]!.logprobs,
    );
    for (const name of ["tokens", "token_logprobs", "top_logprobs", "text_offset"] as const) {
      const joined = lists.flatMap((list): unknown[] => list?.[name] ?? []);
      expect(joined).toEqual(logprobs![name]);
    }
    const [none] = (await complete({ logprobs: 0 })).choices;
    expect(none!.logprobs!.top_logprobs[0]).toEqual({ one: -0.5 });
  });

  it("streams pieces, a final chunk with usage and telemetry, and one more only for include_usage", async () => {
    const chunks = await stream({});
    expect(chunks.map((chunk) => chunk.choices[0]!.text).join("")).toBe(MANY);
    const last = chunks.at(-1)!;
    expect(last).toMatchObject({
      choices: [{ text: "", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 3 },
      hypnos_telemetry: { engine: { concurrent_slots: 1 } },
    });
    expect(chunks.slice(0, -1).every((chunk) => !("usage" in chunk))).toBe(true);
    const more = await stream({ stream_options: { include_usage: true }, n: 2 });
    expect(more.filter((chunk) => chunk.choices.length === 0)).toEqual([more.at(-1)]);
    expect(more.at(-1)!.usage!.completion_tokens).toBe(6);
    const finals = more.filter((chunk) => chunk.choices[0]?.finish_reason);
    expect(finals.map((chunk) => chunk.choices[0]!.index)).toEqual([0, 1]);
  });

  it("ends at a stop string and at max_tokens", async () => {
    const [stopped] = (await complete({ stop: [" thr"] })).choices;
    expect(stopped).toMatchObject({ text: "one two", finish_reason: "stop" });
    const [cut] = (await complete({ max_tokens: 2 })).choices;
    expect(cut).toMatchObject({ text: "one two", finish_reason: "length" });
    // What is held back for a stop string is not lost at the limit.
    const [held] = (await complete({ max_tokens: 2, stop: [" two four"] })).choices;
    expect(held).toMatchObject({ text: "one two", finish_reason: "length" });
  });

  it("has the best of several", async () => {
    const answer = await complete({ n: 1, best_of: 3 });
    expect(answer.choices).toHaveLength(1);
    expect(answer.choices[0]!.logprobs).toBeNull();
    expect(answer.usage.completion_tokens).toBe(9);
  });

  it("writes before a suffix, around the model's marks", async () => {
    await complete({ prompt: "before", suffix: "after" });
    const { prompt } = (await lastBody()) as { prompt: unknown[] };
    // The frame's begin, three marks and two words.
    expect(prompt).toHaveLength(6);
  });

  it("finds a longer prompt's begin in the slot that has it", async () => {
    const long = Array.from({ length: 40 }, (_, at) => `word${at}`).join(" ");
    await complete({ prompt: long, max_tokens: 1 });
    const { usage } = await complete({ prompt: `${long} more`, max_tokens: 1 });
    expect(usage.prompt_tokens_details!.cached_tokens).toBeGreaterThan(38);
  });

  it("tells a failure after its head in an error chunk", async () => {
    const chunks = await stream({ prompt: "[[rate:50]][[die:2]] one two three four" });
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ text: "", index: 0, finish_reason: "error" }],
      error: { type: "server_error" },
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["an empty prompt", { prompt: "" }, "prompt"],
    ["no prompts", { prompt: [] }, "prompt"],
    ["an empty one among them", { prompt: ["a", ""] }, "prompt[1]"],
    ["too many prompts", { prompt: Array(129).fill("a") }, "prompt"],
    ["a token that the vocabulary lacks", { prompt: [[1], [99999999]] }, "prompt[1]"],
    ["ids before a suffix", { prompt: [1], suffix: "x" }, "suffix"],
    ["fewer than n", { n: 2, best_of: 1 }, "best_of"],
    ["a best one that is streamed", { best_of: 2, stream: true }, "best_of"],
    ["log probabilities of an echo", { echo: true, logprobs: 1 }, "logprobs"],
    ["too many likely tokens", { logprobs: 21 }, "logprobs"],
    ["an empty stop string", { stop: "" }, "stop"],
    ["a bias of no token", { logit_bias: { x: 1 } }, "logit_bias"],
    ["a prompt over the context", { prompt: "word ".repeat(30_000) }, "prompt"],
    ["a prompt over the limit", { prompt: "x".repeat(1_000_001) }, "prompt"],
  ])("refuses %s", async (_, fields, param) => {
    expect(await refusal(fields)).toMatchObject({ status: 400, param });
  });

  it("comes through OpenAI's SDK, whole and streamed", async () => {
    const whole = await sdk.completions.create({ model: "tiny", prompt: MANY, logprobs: 1 });
    expect(whole.choices[0]).toMatchObject({ text: MANY, finish_reason: "stop" });
    expect(whole.choices[0]!.logprobs!.tokens).toEqual(["one", " two", " three"]);
    const chunks = await sdk.completions.create({ model: "tiny", prompt: MANY, stream: true });
    let text = "";
    for await (const chunk of chunks) text += chunk.choices[0]?.text ?? "";
    expect(text).toBe(MANY);
  });
});
