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
const ask = (content: string) => [{ role: "user" as const, content }];

describe("the OpenAI SDK, unmodified, with a real model", () => {
  it("gets an answer", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: ask("What is the capital of France? One word."),
      temperature: 0,
    });
    expect(answer.choices[0]!.message.content).toContain("Paris");
    expect(answer.choices[0]!.finish_reason).toBe("stop");
    expect(answer.usage!.prompt_tokens).toBeGreaterThan(10);
  });

  it("streams the same text for the same seed, sampled", async () => {
    const fields = {
      model,
      messages: ask("Invent a name for a cat."),
      seed: 7,
      temperature: 0.9,
      max_tokens: 24,
    };
    const whole = await client.chat.completions.create(fields);
    const stream = client.chat.completions.stream(fields);
    expect(await stream.finalContent()).toBe(whole.choices[0]!.message.content);
    expect((await stream.totalUsage()).completion_tokens).toBe(whole.usage!.completion_tokens);
  });

  it("stops at a stop string, and cuts at max_tokens", async () => {
    const count = ask("Count from 1 to 9, with commas.");
    const stopped = await client.chat.completions.create({
      model,
      messages: count,
      stop: "4",
      temperature: 0,
    });
    expect(stopped.choices[0]!.message.content).not.toContain("4");
    expect(stopped.choices[0]!.finish_reason).toBe("stop");
    const cut = await client.chat.completions.create({
      model,
      messages: count,
      max_completion_tokens: 3,
    });
    expect(cut.choices[0]!.finish_reason).toBe("length");
    expect(cut.usage!.completion_tokens).toBe(3);
  });

  it("gives JSON that fits a schema", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: ask("Describe Berlin."),
      max_tokens: 200,
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "city",
          strict: true,
          schema: {
            type: "object",
            properties: {
              name: { type: "string", maxLength: 40 },
              country: { type: "string", maxLength: 40 },
            },
            required: ["name", "country"],
            additionalProperties: false,
          },
        },
      },
    });
    const city = JSON.parse(answer.choices[0]!.message.content!);
    expect(Object.keys(city).sort()).toEqual(["country", "name"]);
  });

  it("gives log probabilities and several choices", async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: ask("Say yes."),
      n: 2,
      logprobs: true,
      top_logprobs: 2,
      max_tokens: 4,
    });
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1]);
    const [token] = answer.choices[0]!.logprobs!.content!;
    expect(token!.logprob).toBeLessThanOrEqual(0);
    expect(token!.top_logprobs).toHaveLength(2);
  });

  it("aborts a stream", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: ask("Count from 1 to 500."),
      stream: true,
      max_tokens: 1000,
    });
    for await (const _ of stream) break;
    await expect.poll(() => server.server.activeRequests()).toBe(0);
  });

  it("raises its own errors", async () => {
    await expect(
      client.chat.completions.create({ model: "nothing", messages: ask("Hi") }),
    ).rejects.toThrow(OpenAI.NotFoundError);
    await expect(
      client.chat.completions.create({ model, messages: [], temperature: 0 }),
    ).rejects.toThrow(OpenAI.BadRequestError);
  });

  it("lists the models", async () => {
    const ids: string[] = [];
    for await (const row of client.models.list()) ids.push(row.id);
    expect(ids).toEqual(["smollm2:135m", "qwen2.5-coder:0.5b"]);
    expect((await client.models.retrieve("smollm2:135m")).id).toBe("smollm2:135m");
  });
});

describe("a real conversation", () => {
  it("computes only what is new, in turns that alternate with another conversation", async () => {
    const system = {
      role: "system" as const,
      content: "You answer in one short sentence. ".repeat(12),
    };
    const talks = ["Name a river.", "Name a mountain."].map((text) => [
      system,
      { role: "user" as const, content: text },
    ]);
    const turn = async (history: OpenAI.ChatCompletionMessageParam[]) => {
      const answer = await client.chat.completions.create({
        model,
        messages: history,
        max_tokens: 24,
        temperature: 0,
      });
      history.push({ role: "assistant", content: answer.choices[0]!.message.content });
      history.push({ role: "user", content: "Another one." });
      return answer.usage!;
    };
    for (const talk of talks) await turn(talk);
    for (const talk of talks) {
      const usage = await turn(talk);
      const fresh = usage.prompt_tokens - usage.prompt_tokens_details!.cached_tokens!;
      expect(fresh).toBeLessThan(40);
    }
  });

  it("refuses a prompt beyond the context with both numbers", async () => {
    const long = client.chat.completions.create({ model, messages: ask("word ".repeat(6_000)) });
    await expect(long).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});
