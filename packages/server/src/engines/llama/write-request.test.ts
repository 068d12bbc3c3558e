import { describe, expect, it } from "vitest";
import { requestOf } from "./__fixtures__/request.js";
import { chatBody, engineSeed, promptBody } from "./write-request.js";

const request = requestOf("Hi", { maxTokens: 32 });
const plain = { tools: true, reasoning: false };
const thinking = { tools: true, reasoning: true };

describe("chatBody", () => {
  it("always streams with progress and usage, in the slot it was given", () => {
    expect(chatBody(request, 3, 0, plain)).toEqual({
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      return_progress: true,
      stream_options: { include_usage: true },
      cache_prompt: true,
      id_slot: 3,
      n_predict: 32,
    });
  });

  it("spells what was asked for as the engine does", () => {
    const body = chatBody(
      {
        ...request,
        sampling: {
          temperature: 0,
          topP: 0.9,
          topK: 40,
          minP: 0.1,
          repeatPenalty: 1.1,
          presencePenalty: -1,
          frequencyPenalty: 2,
          logitBias: { "42": -100 },
          seed: 7,
        },
        stop: ["END"],
        topLogprobs: 5,
      },
      0,
      0,
      plain,
    );
    expect(body).toMatchObject({
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.1,
      repeat_penalty: 1.1,
      presence_penalty: -1,
      frequency_penalty: 2,
      logit_bias: { "42": -100 },
      seed: 7,
      timings_per_token: true,
      logprobs: true,
      top_logprobs: 5,
    });
  });

  it("asks for one likely token where none are wanted: none would switch them off", () => {
    expect(chatBody({ ...request, topLogprobs: 0 }, 0, 0, plain)).toMatchObject({
      logprobs: true,
      top_logprobs: 1,
    });
  });

  it("speaks of thinking only to a template that knows it", () => {
    expect(chatBody(request, 0, 0, plain)).not.toHaveProperty("chat_template_kwargs");
    expect(chatBody({ ...request, think: true }, 0, 0, thinking)).toMatchObject({
      chat_template_kwargs: { enable_thinking: true },
    });
    expect(promptBody(request, thinking)).toMatchObject({
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  it("sends no lone surrogate, wherever it stands", () => {
    const body = chatBody(
      {
        ...request,
        messages: [
          { role: "system", parts: [{ type: "text", text: "a\ud800" }] },
          {
            role: "user",
            parts: [
              { type: "text", text: "b\udfff" },
              { type: "text", text: "c" },
            ],
          },
        ],
        json: { schema: { type: "object", properties: { "k\ud800": { const: "v\udc00" } } } },
      },
      0,
      0,
      plain,
    );
    expect(JSON.stringify(body)).not.toMatch(/\\ud[89a-f]/);
    expect(JSON.stringify(body)).toContain("\ufffd");
  });

  it("constrains to any object, or to a schema", () => {
    expect(promptBody({ ...request, json: {} }, plain).response_format).toEqual({
      type: "json_object",
    });
    expect(
      promptBody({ ...request, json: { schema: { type: "integer" } } }, plain).response_format,
    ).toEqual({ type: "json_schema", json_schema: { schema: { type: "integer" } } });
  });
});

describe("engineSeed", () => {
  it.each([
    0,
    1,
    4294967294,
    4294967295,
    4294967296,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ])("maps %i to a seed of the engine, the same each time", (seed) => {
    const own = engineSeed(seed, 0);
    expect(Number.isInteger(own)).toBe(true);
    expect(own).toBeGreaterThanOrEqual(0);
    expect(own).toBeLessThan(4294967295);
    expect(engineSeed(seed, 0)).toBe(own);
    expect(engineSeed(seed, 1)).not.toBe(own);
    expect(engineSeed(seed, 1)).toBeLessThan(4294967295);
  });

  it("leaves a seed that the engine knows as it is", () => {
    expect(engineSeed(42, 0)).toBe(42);
    expect(engineSeed(42, 2)).toBe(44);
  });
});

describe("functions on offer", () => {
  const offer = {
    tools: [{ name: "add", description: "Adds.", parameters: { type: "object" } }],
    choice: "auto" as const,
    parallel: true,
  };

  it("are written as the engine's tools, and calls and results as its messages", () => {
    const body = promptBody(
      {
        ...request,
        messages: [
          ...request.messages,
          { role: "assistant", parts: [], calls: [{ id: "c1", name: "add", arguments: "{}" }] },
          {
            role: "tool",
            parts: [{ type: "text", text: "3" }],
            result: { callId: "c1", name: "add" },
          },
        ],
        offer,
      },
      plain,
    );
    expect(body).toEqual({
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: "{}" } }],
        },
        { role: "tool", content: "3", tool_call_id: "c1", name: "add" },
      ],
      tools: [{ type: "function", function: offer.tools[0] }],
      parallel_tool_calls: true,
    });
  });

  it("are held to a schema of calls where there has to be one, the prompt as it was", () => {
    const auto = promptBody({ ...request, offer }, plain);
    const must = promptBody({ ...request, offer: { ...offer, choice: "required" } }, plain);
    expect(must).toMatchObject({
      messages: auto.messages,
      tools: auto.tools,
      tool_choice: "required",
      response_format: { type: "json_schema", json_schema: { schema: { anyOf: [{}, {}] } } },
    });
  });

  it("are told in words to a template that knows none, or when that was asked for", () => {
    for (const body of [
      promptBody({ ...request, offer }, { tools: false, reasoning: false }),
      promptBody({ ...request, offer: { ...offer, prompted: true } }, plain),
    ]) {
      expect(body).not.toHaveProperty("tools");
      expect(JSON.stringify(body.messages)).toContain("<tool_call>");
    }
  });

  it("may stand beside a form for the answer", () => {
    const body = promptBody({ ...request, offer, json: {} }, plain);
    expect(body.response_format).toMatchObject({ json_schema: { schema: { anyOf: [{}, {}] } } });
  });

  it("get log probabilities under the engine's own name: it takes no other beside them", () => {
    const body = chatBody({ ...request, offer, topLogprobs: 2 }, 0, 0, plain);
    expect(body).toMatchObject({ n_probs: 2 });
    expect(body).not.toHaveProperty("logprobs");
  });
});

describe("thoughts", () => {
  it("end at their budget, and at once where there are to be none", () => {
    const think = { ...request, think: true };
    expect(chatBody({ ...think, thinkBudgetTokens: 512 }, 0, 0, thinking)).toMatchObject({
      thinking_budget_tokens: 512,
    });
    expect(chatBody(think, 0, 0, thinking)).not.toHaveProperty("thinking_budget_tokens");
    expect(chatBody(request, 0, 0, thinking)).toMatchObject({ thinking_budget_tokens: 0 });
    expect(chatBody(request, 0, 0, plain)).not.toHaveProperty("thinking_budget_tokens");
  });
});
