import { ChatResponse } from "@somnus/contract";
import { Check } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ flags: { "limits.max_tokens_cap": 100 } });
});
afterAll(() => server.dispose());

async function chat(fields: Record<string, unknown>): Promise<ChatResponse> {
  const response = await server.chat(fields);
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  expect(Check(ChatResponse, body)).toBe(true);
  return body as ChatResponse;
}
const say = (content: string) => ({ messages: [{ role: "user", content }] });

describe("a chat answered in one piece", () => {
  it("has the contract's fields", async () => {
    const body = await chat(say("Hello there"));
    expect(body.object).toBe("chat.completion");
    expect(body.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(body.model).toBe("tiny");
    expect(body.choices).toHaveLength(1);
    expect(body.choices[0]!.message.content).toBe("Hello there");
    expect(body.choices[0]!.finish_reason).toBe("stop");
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
  });

  it("gives the same text as a stream", async () => {
    const whole = await chat(say("[[say:one two three four five]]"));
    const response = await server.chat({ ...say("[[say:one two three four five]]"), stream: true });
    const chunks = (await readChunks(response)) as { choices: { delta: { content?: string } }[] }[];
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
    expect(text).toBe(whole.choices[0]!.message.content);
  });

  it("tells cached tokens only when there are some", async () => {
    const first = [{ role: "user", content: "A conversation that only this test has" }];
    const one = await chat({ messages: first });
    expect(one.usage.prompt_tokens_details).toBeUndefined();
    const two = await chat({
      messages: [
        ...first,
        { role: "assistant", content: one.choices[0]!.message.content },
        { role: "user", content: "Go on" },
      ],
    });
    expect(two.usage.prompt_tokens_details!.cached_tokens).toBeGreaterThan(0);
    expect(two.hypnos_telemetry.engine.cached_tokens).toBe(
      two.usage.prompt_tokens_details!.cached_tokens,
    );
  });

  it("answers n choices, their tokens together in the usage", async () => {
    const one = await chat(say("Some words to repeat"));
    const three = await chat({ ...say("Some words to repeat"), n: 3 });
    expect(three.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(three.usage.completion_tokens).toBe(3 * one.usage.completion_tokens);
    expect(three.usage.prompt_tokens).toBe(one.usage.prompt_tokens);
  });

  it("clamps max_tokens without a word, and max_completion_tokens wins", async () => {
    const clamped = await chat({ ...say("Hi"), max_tokens: 1_000_000 });
    expect(clamped.choices[0]!.finish_reason).toBe("stop");
    const sent = (await server.engine.journal()).findLast(({ event }) => event === "request");
    expect(sent!.body!.n_predict).toBe(100);
    const limited = await chat({
      ...say("one two three four"),
      max_tokens: 50,
      max_completion_tokens: 2,
    });
    expect(limited.choices[0]!.finish_reason).toBe("length");
    expect(limited.usage.completion_tokens).toBe(2);
  });

  it("reports log probabilities with as many alternatives as asked", async () => {
    const none = await chat({ ...say("Hi"), logprobs: true });
    expect(none.choices[0]!.logprobs!.content!.map((token) => token.top_logprobs)).toEqual([[]]);
    const two = await chat({ ...say("Hi"), logprobs: true, top_logprobs: 2 });
    expect(two.choices[0]!.logprobs!.content![0]!.top_logprobs).toHaveLength(2);
    expect((await chat(say("Hi"))).choices[0]!.logprobs).toBeUndefined();
  });

  it("tells the load on the request that caused it, and none on the next", async () => {
    const fields = { ...say("Hi"), model: "other" };
    const cold = await chat(fields);
    expect(cold.hypnos_telemetry.previous_tier).toBe("tier3_nvme_ssd");
    expect(cold.hypnos_telemetry.tier_switch_latency_ms).toBeGreaterThan(0);
    expect(cold.hypnos_telemetry.tier_switch_phases!.total_ms).toBeGreaterThan(0);
    const warm = await chat(fields);
    expect(warm.hypnos_telemetry.previous_tier).toBe("tier1_gpu_vram");
    expect(warm.hypnos_telemetry.tier_switch_latency_ms).toBe(0);
    expect(warm.hypnos_telemetry.tier_switch_phases).toBeUndefined();
  });

  it("shows thoughts when they were asked for, and never in the content", async () => {
    await server.engine.script({ thinking: true, reasoning: "Let me see", answer: "Yes" });
    const shown = await chat({ ...say("Well?"), think: true });
    expect(shown.choices[0]!.message.reasoning_content).toContain("Let me see");
    expect(shown.choices[0]!.message.content).toBe("Yes");
    const hidden = await chat({ ...say("Well?"), reasoning_effort: "none", think: true });
    expect(hidden.choices[0]!.message).not.toHaveProperty("reasoning_content");
    expect(hidden.choices[0]!.message.content).toBe("Yes");
    await server.engine.script({});
  });

  it("takes null as absent and ignores what it does not know", async () => {
    await chat({
      ...say("Hi"),
      temperature: null,
      stop: null,
      tools: null,
      response_format: null,
      stream: null,
      user: "me",
      metadata: { a: 1 },
      service_tier: "auto",
      some_new_field: { deep: [1, 2] },
      ["__proto__"]: { polluted: true },
    });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
