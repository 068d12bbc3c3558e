import type { GenerationEvent } from "../../generation.js";
import { call, finish, refusal, text, thought, usage } from "./events.js";
import type { Format } from "./formats.js";

/** An answer, and what each format makes of it on the wire: its events in a word or two. */
export interface Answer {
  name: string;
  events: GenerationEvent[];
  choices?: number;
  /** Absent for a format that cannot carry it. */
  wire: Partial<Record<Format["name"], string[]>>;
}

/** The first words of every stream, and its last. */
const wire = (
  chat: string[],
  reason: string,
  anthropic: string[],
  stop: string,
  responses: string[],
  end = "completed",
): Answer["wire"] => ({
  "openai-chat": ["role", ...chat, reason, "usage", "[DONE]"],
  anthropic: ["message_start", ...anthropic, stop, "message_stop"],
  "openai-responses": ["created", "in_progress", ...responses, end],
});

const item = (part: string[]): string[] => ["output_item.added", ...part, "output_item.done"];
const message = (pieces: number, kind = "output_text"): string[] =>
  item([
    "content_part.added",
    ...Array<string>(pieces).fill(`${kind}.delta`),
    `${kind}.done`,
    "content_part.done",
  ]);
const thoughts = (pieces: number): string[] => message(pieces, "reasoning_text");
const CALL = item(["function_call_arguments.delta", "function_call_arguments.done"]);

const LOGPROBS = [
  {
    token: "Hi",
    logprob: -0.5,
    bytes: [72, 105],
    top_logprobs: [{ token: "Ha", logprob: -1.5, bytes: [72, 97] }],
  },
];

export const ANSWERS: readonly Answer[] = [
  {
    name: "a text",
    events: [{ type: "start" }, text("Hel"), text("lo"), finish("stop"), usage()],
    wire: wire(
      ["content", "content"],
      "stop",
      ["+text", "text", "text", "-"],
      "end_turn",
      message(2),
    ),
  },
  {
    name: "nothing",
    events: [finish("stop"), usage({ completionTokens: 1 })],
    wire: wire([], "stop", [], "end_turn", message(0)),
  },
  {
    name: "thoughts, then text",
    events: [thought("Hm, "), thought("so"), text("Yes"), finish("stop"), usage()],
    wire: wire(
      ["reasoning_content", "reasoning_content", "content"],
      "stop",
      ["+thinking", "thinking", "thinking", "signature", "-", "+text", "text", "-"],
      "end_turn",
      [...thoughts(2), ...message(1)],
    ),
  },
  {
    name: "text, then a call",
    events: [text("Let me see."), call("c1"), finish("tool_calls"), usage()],
    wire: wire(
      ["content", "tool_calls"],
      "tool_calls",
      ["+text", "text", "-", "+tool_use", "input_json", "-"],
      "tool_use",
      [...message(1), ...CALL],
    ),
  },
  {
    name: "a call alone",
    events: [call("c1"), finish("tool_calls"), usage()],
    wire: wire(["tool_calls"], "tool_calls", ["+tool_use", "input_json", "-"], "tool_use", CALL),
  },
  {
    name: "thoughts and two parallel calls",
    events: [
      thought("Both"),
      call("c1", '{"a":"x, {y}"}'),
      call("c2", "{}"),
      finish("tool_calls"),
      usage(),
    ],
    wire: wire(
      ["reasoning_content", "tool_calls", "tool_calls"],
      "tool_calls",
      [
        ...["+thinking", "thinking", "signature", "-"],
        ...["+tool_use", "input_json", "-", "+tool_use", "input_json", "-"],
      ],
      "tool_use",
      [...thoughts(1), ...CALL, ...CALL],
    ),
  },
  {
    name: "a text that was cut by the limit",
    events: [text("On and on"), finish("length"), usage()],
    wire: wire(
      ["content"],
      "length",
      ["+text", "text", "-"],
      "max_tokens",
      message(1),
      "incomplete",
    ),
  },
  {
    name: "thoughts that were cut by the limit",
    events: [thought("On and on"), finish("length"), usage()],
    wire: wire(
      ["reasoning_content"],
      "length",
      ["+thinking", "thinking", "signature", "-"],
      "max_tokens",
      thoughts(1),
      "incomplete",
    ),
  },
  {
    name: "a text that a stop string ended",
    events: [text("One"), { type: "finish", choice: 0, reason: "stop", stop: "\n" }, usage()],
    wire: wire(["content"], "stop", ["+text", "text", "-"], "stop_sequence", message(1)),
  },
  {
    name: "a refusal",
    events: [refusal("I will "), refusal("not."), finish("content_filter"), usage()],
    wire: wire(
      ["refusal", "refusal"],
      "content_filter",
      ["+text", "text", "text", "-"],
      "refusal",
      message(2, "refusal"),
      "incomplete",
    ),
  },
  {
    name: "a text in many scripts",
    events: [
      text("Grüß 你好 👩‍👩‍👧‍👦 é"),
      text("\u2028\u0000\u007f \ufeff\ud83d\ude00"),
      finish("stop"),
      usage(),
    ],
    wire: wire(
      ["content", "content"],
      "stop",
      ["+text", "text", "text", "-"],
      "end_turn",
      message(2),
    ),
  },
  {
    name: "a text that looks like a stream",
    events: [text("\n\ndata: [DONE]\n\n"), text("event: error\r\n\r\n"), finish("stop"), usage()],
    wire: wire(
      ["content", "content"],
      "stop",
      ["+text", "text", "text", "-"],
      "end_turn",
      message(2),
    ),
  },
  {
    name: "counts of cached tokens and of thoughts",
    events: [
      { type: "start", promptTokens: 4096, cachedTokens: 4000 },
      thought("Hm"),
      text("Yes"),
      finish("stop"),
      usage({ promptTokens: 4096, cachedTokens: 4000, completionTokens: 30, reasoningTokens: 20 }),
    ],
    wire: wire(
      ["reasoning_content", "content"],
      "stop",
      ["+thinking", "thinking", "signature", "-", "+text", "text", "-"],
      "end_turn",
      [...thoughts(1), ...message(1)],
    ),
  },
  {
    name: "counts of tokens that were written to a cache",
    events: [
      text("Yes"),
      finish("stop"),
      usage({ promptTokens: 500, cachedTokens: 100, cacheWriteTokens: 300 }),
    ],
    wire: { anthropic: ["message_start", "+text", "text", "-", "end_turn", "message_stop"] },
  },
  {
    name: "log probabilities",
    events: [
      { type: "text", choice: 0, text: "Hi", logprobs: LOGPROBS },
      finish("stop"),
      usage({ completionTokens: 1 }),
    ],
    wire: {
      "openai-chat": ["role", "content", "stop", "usage", "[DONE]"],
      "openai-responses": ["created", "in_progress", ...message(1), "completed"],
    },
  },
  {
    name: "several choices",
    choices: 3,
    events: [
      text("a", 0),
      finish("stop", 0),
      usage({ completionTokens: 1 }, 0),
      thought("b", 1),
      call("c1", "{}", 1),
      finish("tool_calls", 1),
      usage({ completionTokens: 2 }, 1),
      text("c", 2),
      finish("length", 2),
      usage({ completionTokens: 4 }, 2),
    ],
    wire: {
      "openai-chat": [
        ...["role", "content", "stop"],
        ...["1 role", "1 reasoning_content", "1 tool_calls", "1 tool_calls"],
        ...["2 role", "2 content", "2 length", "usage", "[DONE]"],
      ],
    },
  },
];
