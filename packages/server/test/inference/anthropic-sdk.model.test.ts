import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
let client: Anthropic;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[server]
api_keys = ["sk-test"]
[[models]]
id = "qwen2.5-coder:0.5b"
context_len = 4096
[[models]]
id = "smollm2:135m"
context_len = 2048
[aliases]
"claude-*" = "qwen2.5-coder:0.5b"
`,
  });
  client = new Anthropic({ baseURL: server.url, apiKey: "sk-test", maxRetries: 0 });
});
afterAll(() => server.dispose());

const model = "claude-sonnet-5";
/** The API takes it, though the SDK's types have dropped it. */
const cold: object = { temperature: 0 };
const ask = (content: string) => [{ role: "user" as const, content }];
const france = ask("What is the capital of France? One word.");

describe("the Anthropic SDK, unmodified, with a real model", () => {
  it("gets an answer of the model that its alias leads to", async () => {
    const answer = await client.messages.create({
      model,
      max_tokens: 32,
      ...cold,
      messages: france,
    });
    expect(answer.model).toBe("qwen2.5-coder:0.5b");
    expect(answer.content).toEqual([{ type: "text", text: expect.stringContaining("Paris") }]);
    expect([answer.stop_reason, answer.stop_sequence]).toEqual(["end_turn", null]);
    expect(answer._request_id).toMatch(/^req-/);
  });

  it("streams the same through its helper", async () => {
    const fields = { model, max_tokens: 32, ...cold, messages: france };
    const whole = await client.messages.create(fields);
    const pieces: string[] = [];
    const stream = client.messages.stream(fields).on("text", (piece) => pieces.push(piece));
    const last = await stream.finalMessage();
    expect(last.content).toEqual(whole.content);
    expect(pieces.join("")).toBe(await stream.finalText());
    expect(last.stop_reason).toBe("end_turn");
    expect(last.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  it("stops at a stop sequence and tells which, and is cut at max_tokens", async () => {
    const count = ask("Count from 1 to 9, with commas.");
    const stopped = await client.messages.create({
      model,
      max_tokens: 64,
      ...cold,
      messages: count,
      stop_sequences: ["seven", "4"],
    });
    expect(JSON.stringify(stopped.content)).not.toContain("4");
    expect([stopped.stop_reason, stopped.stop_sequence]).toEqual(["stop_sequence", "4"]);
    const streamed = await client.messages
      .stream({ model, max_tokens: 64, ...cold, messages: count, stop_sequences: ["4"] })
      .finalMessage();
    expect([streamed.stop_reason, streamed.stop_sequence]).toEqual(["stop_sequence", "4"]);
    const ended = await client.messages.create({
      model,
      max_tokens: 64,
      ...cold,
      messages: france,
      stop_sequences: ["\n\n\n"],
    });
    expect([ended.stop_reason, ended.stop_sequence]).toEqual(["end_turn", null]);
    const cut = await client.messages.create({ model, max_tokens: 3, messages: count });
    expect([cut.stop_reason, cut.usage.output_tokens]).toEqual(["max_tokens", 3]);
  });

  it("goes on with an answer that was begun", async () => {
    const answer = await client.messages.create({
      model,
      max_tokens: 16,
      ...cold,
      messages: [...france, { role: "assistant", content: "The capital of France is" }],
    });
    const [block] = answer.content;
    expect(block?.type === "text" && block.text).toMatch(/^ ?\*{0,2}Paris/);
  });

  it("gets JSON that fits a schema", async () => {
    const answer = await client.messages.create({
      model,
      max_tokens: 200,
      messages: ask("Describe Berlin."),
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { name: { type: "string", maxLength: 40 } },
            required: ["name"],
            additionalProperties: false,
          },
        },
      },
    });
    const [block] = answer.content;
    expect(Object.keys(JSON.parse(block?.type === "text" ? block.text : ""))).toEqual(["name"]);
  });

  it("counts tokens, system text included, and exactly", async () => {
    const prompt = { model, messages: ask("How many are these?") };
    const plain = await client.messages.countTokens(prompt);
    const withSystem = await client.messages.countTokens({ ...prompt, system: "Be brief." });
    expect(withSystem.input_tokens).not.toBe(plain.input_tokens);
    const { usage } = await client.messages.create({
      ...prompt,
      system: "Be brief.",
      max_tokens: 1,
    });
    expect(usage.input_tokens + usage.cache_read_input_tokens!).toBe(withSystem.input_tokens);
  });

  it("computes only what is new in a conversation's next turn", async () => {
    const system = [
      { type: "text" as const, text: "You answer in one short sentence. ".repeat(60) },
    ];
    const talk: Anthropic.MessageParam[] = ask("Name a river.");
    const turn = async () => {
      const answer = await client.messages.create({
        model,
        system,
        messages: talk,
        max_tokens: 24,
        ...cold,
      });
      talk.push({ role: "assistant", content: answer.content });
      talk.push({ role: "user", content: [{ type: "text", text: "Another one." }] });
      return answer.usage;
    };
    const first = await turn();
    expect(first.input_tokens).toBeGreaterThan(300);
    for (const usage of [await turn(), await turn()]) {
      expect(usage.cache_read_input_tokens).toBeGreaterThan(300);
      expect(usage.input_tokens).toBeLessThan(24);
    }
  });

  it("aborts a stream", async () => {
    const stream = client.messages.stream({
      model,
      messages: ask("Count from 1 to 500."),
      max_tokens: 1000,
    });
    for await (const _ of stream) break;
    stream.abort();
    await expect.poll(() => server.server.activeRequests()).toBe(0);
  });

  it("raises its own errors", async () => {
    const send = (fields: Record<string, unknown>, by = client) =>
      by.messages.create({ model, max_tokens: 8, messages: france, stream: false, ...fields });
    await expect(send({ model: "nothing" })).rejects.toThrow(Anthropic.NotFoundError);
    await expect(send({ messages: [] })).rejects.toThrow(Anthropic.BadRequestError);
    await expect(send({ messages: ask("word ".repeat(6_000)) })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      requestID: expect.stringMatching(/^req-/),
    });
    const stranger = new Anthropic({ baseURL: server.url, apiKey: "sk-no", maxRetries: 0 });
    await expect(send({}, stranger)).rejects.toThrow(Anthropic.AuthenticationError);
    const bearer = new Anthropic({ baseURL: server.url, apiKey: null, authToken: "sk-test" });
    expect((await send({}, bearer)).type).toBe("message");
  });
});
