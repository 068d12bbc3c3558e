import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../generation.js";
import { call, finish, text, thought, usage } from "./__fixtures__/events.js";
import { cut, FORMATS, type Format, outcome } from "./__fixtures__/formats.js";

interface Row {
  name: string;
  of: Format["name"];
  /** Data of the events, in their order. */
  stream: unknown[];
  events: GenerationEvent[];
  ignored?: string[];
  failure?: object;
}

const chunk = (delta: object, more: object = {}) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const ends = (reason: string) => chunk({}, { finish_reason: reason });
const fragment = (piece: object) => chunk({ tool_calls: [piece] });
const toolUse = (index: number, id: string) => [
  {
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id, name: "add", input: {} },
  },
];
const START = {
  type: "message_start",
  message: { usage: { input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 1 } },
};
const stops = (reason: string, more: object = {}) => [
  { type: "message_delta", delta: { stop_reason: reason, ...more }, usage: { output_tokens: 3 } },
  { type: "message_stop" },
];

const ROWS: Row[] = [
  {
    name: "calls in fragments, whose ids come once",
    of: "openai-chat",
    stream: [
      fragment({ index: 0, id: "c1", type: "function", function: { name: "add", arguments: "" } }),
      fragment({ index: 0, function: { arguments: '{"a"' } }),
      fragment({ index: 1, id: "c2", function: { name: "add", arguments: '{"a":' } }),
      fragment({ index: 0, function: { arguments: ":1}" } }),
      fragment({ index: 1, function: { arguments: "1}" } }),
      ends("tool_calls"),
      "[DONE]",
    ],
    events: [call("c1"), call("c2"), finish("tool_calls")],
  },
  {
    name: "whole calls that all have the number 0, and the wrong finish",
    of: "openai-chat",
    stream: [
      fragment({ index: 0, id: "c1", function: { name: "add", arguments: '{"a":1}' } }),
      fragment({ index: 0, id: "c2", function: { name: "add", arguments: '{"a":1}' } }),
      ends("stop"),
      "[DONE]",
    ],
    events: [call("c1"), call("c2"), finish("tool_calls")],
  },
  {
    name: "thoughts under another name, twice",
    of: "openai-chat",
    stream: [
      chunk({ role: "assistant", content: "", reasoning: "Hm", reasoning_content: "Hm" }),
      chunk({ content: null, reasoning: "." }),
      chunk({ content: "Yes" }, { finish_reason: "stop" }),
      "[DONE]",
    ],
    events: [thought("Hm."), text("Yes"), finish("stop")],
  },
  {
    name: "a finish that every object of JavaScript has a value for",
    of: "openai-chat",
    stream: [chunk({ content: "Yes" }), ends("constructor"), "[DONE]"],
    events: [text("Yes"), finish("stop")],
    ignored: ["finish_reason constructor"],
  },
  {
    name: "content in parts",
    of: "openai-chat",
    stream: [
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
      chunk({ content: [{ type: "text", text: "Yes" }, { type: "reference" }] }),
      ends("eos"),
    ],
    events: [thought("Hm"), text("Yes"), finish("stop")],
    ignored: ["content reference", "finish_reason eos"],
  },
  {
    name: "usage in a place of one's own, thoughts not in the completion",
    of: "openai-chat",
    stream: [
      chunk({ content: "Yes" }),
      {
        ...ends("stop"),
        x_groq: {
          usage: {
            prompt_tokens: 9,
            completion_tokens: 1,
            total_tokens: 15,
            prompt_cache_hit_tokens: 4,
            completion_tokens_details: { reasoning_tokens: 5 },
          },
        },
      },
      "[DONE]",
    ],
    events: [
      text("Yes"),
      finish("stop"),
      usage({ completionTokens: 6, cachedTokens: 4, reasoningTokens: 5 }),
    ],
  },
  {
    name: "a call that the limit cut",
    of: "openai-chat",
    stream: [
      fragment({ index: 0, id: "c1", function: { name: "add", arguments: '{"a":1}' } }),
      fragment({ index: 1, id: "c2", function: { name: "add", arguments: '{"a' } }),
      ends("length"),
      "[DONE]",
    ],
    events: [call("c1"), finish("length")],
  },
  {
    name: "a call that is none",
    of: "openai-chat",
    stream: [
      fragment({ index: 0, id: "c1", function: { name: "add", arguments: "[1" } }),
      ends("tool_calls"),
      "[DONE]",
    ],
    events: [],
    failure: { kind: "unreadable" },
  },
  {
    name: "an error after a text",
    of: "openai-chat",
    stream: [
      chunk({ content: "So" }),
      { error: { code: 429, message: "Slow down" }, ...ends("error") },
    ],
    events: [text("So")],
    failure: { kind: "error_event", code: "429", message: "Slow down", retryable: true },
  },
  {
    name: "an event that is no JSON",
    of: "openai-chat",
    stream: [chunk({ content: "So" }), "{oops"],
    events: [text("So")],
    failure: { kind: "unreadable" },
  },
  {
    name: "an end without a finish",
    of: "openai-chat",
    stream: [chunk({ content: "So" }), "[DONE]"],
    events: [text("So")],
    failure: { kind: "unreadable" },
  },
  {
    name: "blocks that nothing here knows",
    of: "anthropic",
    stream: [
      START,
      { type: "ping" },
      { type: "content_block_start", index: 0, content_block: { type: "server_tool_use" } },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: "{" },
      },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "So" } },
      { type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: {} } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "." } },
      { type: "content_block_stop", index: 1 },
      { type: "something_new" },
      ...stops("pause_turn"),
    ],
    events: [text("So."), finish("stop"), usage({ cachedTokens: 4 })],
    ignored: [
      "content server_tool_use",
      "citations_delta",
      "something_new",
      "stop_reason pause_turn",
    ],
  },
  {
    name: "a call without arguments",
    of: "anthropic",
    stream: [
      START,
      ...toolUse(0, "c1"),
      { type: "content_block_stop", index: 0 },
      ...stops("tool_use"),
    ],
    events: [call("c1", "{}"), finish("tool_calls"), usage({ cachedTokens: 4 })],
  },
  {
    name: "a call that the limit cut before its arguments",
    of: "anthropic",
    stream: [
      START,
      ...toolUse(0, "c1"),
      { type: "content_block_stop", index: 0 },
      ...toolUse(1, "c2"),
      { type: "content_block_stop", index: 1 },
      ...stops("max_tokens"),
    ],
    events: [call("c1", "{}"), finish("length"), usage({ cachedTokens: 4 })],
  },
  {
    name: "a context that ran full",
    of: "anthropic",
    stream: [START, ...stops("model_context_window_exceeded")],
    events: [finish("length"), usage({ cachedTokens: 4 })],
  },
  {
    name: "an error that is not of the request",
    of: "anthropic",
    stream: [START, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
    events: [],
    failure: { kind: "error_event", type: "overloaded_error", retryable: true },
  },
  {
    name: "summaries of thoughts in two parts",
    of: "openai-responses",
    stream: [
      { type: "response.created" },
      { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0 },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "One." },
      { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 1 },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "Two." },
      { type: "response.web_search_call.searching", output_index: 1 },
      { type: "response.output_text.delta", output_index: 2, delta: "So" },
      { type: "response.output_text.annotation.added", output_index: 2 },
      { type: "response.completed", response: { output: [] } },
    ],
    events: [thought("One.\n\nTwo."), text("So"), finish("stop")],
    ignored: ["response.web_search_call.searching", "response.output_text.annotation.added"],
  },
  {
    name: "items that come whole at the end",
    of: "openai-responses",
    stream: [
      { type: "response.created" },
      {
        type: "response.completed",
        response: {
          output: [
            { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
            { type: "message", content: [{ type: "output_text", text: "So" }] },
            { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}' },
            { type: "web_search_call" },
          ],
          usage: {
            input_tokens: 9,
            input_tokens_details: { cached_tokens: 4 },
            output_tokens: 3,
            output_tokens_details: { reasoning_tokens: 2 },
          },
        },
      },
    ],
    events: [
      thought("Hm"),
      text("So"),
      call("c1"),
      finish("tool_calls"),
      usage({ cachedTokens: 4, reasoningTokens: 2 }),
    ],
    ignored: ["item web_search_call"],
  },
  {
    name: "a call that the limit cut",
    of: "openai-responses",
    stream: [
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "function_call", call_id: "c1", name: "add", arguments: '{"a' },
      },
      {
        type: "response.incomplete",
        response: { output: [], incomplete_details: { reason: "max_output_tokens" } },
      },
    ],
    events: [finish("length")],
  },
  {
    name: "a response that failed",
    of: "openai-responses",
    stream: [
      { type: "response.created" },
      { type: "response.output_text.delta", output_index: 0, delta: "So" },
      {
        type: "response.failed",
        response: { error: { code: "rate_limit_exceeded", message: "Slow down" } },
      },
    ],
    events: [text("So")],
    failure: { kind: "error_event", code: "rate_limit_exceeded", retryable: true },
  },
  {
    name: "an error in place of a response",
    of: "openai-responses",
    stream: [{ type: "error", code: "invalid_prompt", message: "No", param: "input" }],
    events: [],
    failure: { kind: "error_event", code: "invalid_prompt", param: "input", retryable: false },
  },
];

const rows = ROWS.map((row) => ({
  ...row,
  format: FORMATS.find(({ name }) => name === row.of)!,
}));

function bytesOf(stream: readonly unknown[]): Uint8Array {
  const frames = stream.map((data) =>
    typeof data === "string" ? `data: ${data}\n\n` : `data: ${JSON.stringify(data)}\n\n`,
  );
  // Comments fill silence.
  return new TextEncoder().encode(`: processing\n\n${frames.join(": still here\n\n")}`);
}

describe.each(rows)("$name: $of", ({ format, stream, events, ignored, failure }) => {
  it("is read wherever it is split, what is ignored is told once", async () => {
    const bytes = bytesOf(stream);
    const single = Array.from({ length: bytes.length }, (_, at) => at);
    for (const ends of [[], [bytes.length >> 1], single]) {
      const told: string[] = [];
      const reading = { onIgnored: (what: string) => told.push(what) };
      const read = await outcome(format.readStream(cut(bytes, ...ends), reading));
      expect(read.events).toEqual(events);
      expect(told).toEqual(ignored ?? []);
      if (failure) expect(read.error).toMatchObject({ failure });
      else expect(read.error).toBeNull();
    }
  });
});

it("the recorded stream of a server that speaks the chat format is read at every split", async () => {
  const recorded = new URL("../../engines/llama/__fixtures__/chat-11434.sse", import.meta.url);
  const bytes = new Uint8Array(await readFile(recorded));
  const [chat] = FORMATS;
  for (let at = 1; at < bytes.length; at++) {
    const { events, error } = await outcome(chat!.readStream(cut(bytes, at)));
    expect(error).toBeNull();
    expect(events).toMatchObject([
      { type: "text", text: "Grüß", logprobs: [{ token: "Grüß" }] },
      finish("stop"),
      usage({ promptTokens: 34, completionTokens: 2 }),
    ]);
  }
});
