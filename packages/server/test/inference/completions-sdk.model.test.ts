import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
let client: OpenAI;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "smollm2:135m"
context_len = 4096
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 4096
`,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

const model = "qwen2.5-coder:0.5b";
const prompt = "1, 2, 3, 4,";
const greedy = { model, prompt, temperature: 0, max_tokens: 8 };

async function tokensOf(content: string): Promise<number[]> {
  const response = await fetch(`${server.url}/v1/tokenize`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, content }),
  });
  return ((await response.json()) as { tokens: number[] }).tokens;
}

async function streamed(fields: Omit<OpenAI.CompletionCreateParamsStreaming, "stream" | "model">) {
  const chunks: OpenAI.Completion[] = [];
  for await (const chunk of await client.completions.create({ model, ...fields, stream: true })) {
    chunks.push(chunk);
  }
  return chunks;
}

describe("completions with a real model", () => {
  it("go on with a text, the same from its token ids, whole and streamed", async () => {
    const whole = await client.completions.create(greedy);
    expect(whole.choices[0]!.text).toMatch(/^ 5, 6/);
    expect(whole.choices[0]!.finish_reason).toBe("length");
    expect(whole.usage).toMatchObject({ completion_tokens: 8, prompt_tokens: 11 });
    const ids = await client.completions.create({ ...greedy, prompt: await tokensOf(prompt) });
    expect(ids.choices[0]!.text).toBe(whole.choices[0]!.text);
    const chunks = await streamed(greedy);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe(
      whole.choices[0]!.text,
    );
  });

  it("give the same log probabilities streamed, with a stop string that holds text back", async () => {
    const fields = { ...greedy, logprobs: 2, stop: [" 5, nothing"] };
    const { logprobs, text } = (await client.completions.create(fields)).choices[0]!;
    // The sampled token and two likely ones, of which it may be one.
    for (const likely of logprobs!.top_logprobs!) {
      expect([2, 3]).toContain(Object.keys(likely).length);
    }
    expect(logprobs!.tokens!.join("")).toBe(text);
    expect(logprobs!.tokens).toHaveLength(8);
    expect(logprobs!.text_offset![1]).toBe(logprobs!.tokens![0]!.length);
    const lists = (await streamed(fields)).map(({ choices }) => choices[0]?.logprobs);
    expect(lists.flatMap((list) => list?.tokens ?? [])).toEqual(logprobs!.tokens);
    expect(lists.flatMap((list) => list?.text_offset ?? [])).toEqual(logprobs!.text_offset);
  });

  it("end at a stop string, and lose nothing that was held back for one", async () => {
    const stopped = await client.completions.create({ ...greedy, stop: [" 6"] });
    expect(stopped.choices[0]).toMatchObject({ text: " 5,", finish_reason: "stop" });
    const cut = { ...greedy, max_tokens: 2, stop: [" 5, 999"] };
    expect((await client.completions.create(cut)).choices[0]!.text).toBe(" 5");
  });

  it("answer several prompts, n times each, the first one's first", async () => {
    const { choices } = await client.completions.create({
      ...greedy,
      prompt: ["1, 2, 3,", "a, b, c,"],
      n: 2,
    });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(choices.map(({ text }) => text.slice(0, 2))).toEqual([" 4", " 4", " d", " d"]);
  });

  it("fill a gap in code", async () => {
    const answer = await client.completions.create({
      ...greedy,
      prompt: "def add(a, b):\n    return ",
      suffix: "\n\nprint(add(1, 2))\n",
    });
    expect(answer.choices[0]!.text).toMatch(/^a \+ b/);
  });

  it("give back the text of ids that they echo, and the best of several", async () => {
    const ids = await tokensOf("Grüße 😀, 1, 2,");
    const answer = await client.completions.create({
      ...greedy,
      prompt: ids,
      echo: true,
      best_of: 2,
      temperature: 0.9,
    });
    expect(answer.choices).toHaveLength(1);
    expect(answer.choices[0]!.text.startsWith("Grüße 😀, 1, 2,")).toBe(true);
    expect(answer.usage!.completion_tokens).toBe(16);
  });

  it("refuse a prompt beyond the context by its name", async () => {
    const long = client.completions.create({ ...greedy, prompt: "word ".repeat(6_000) });
    await expect(long).rejects.toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      param: "prompt",
    });
  });
});
