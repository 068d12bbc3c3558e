import {
  ChatChunk,
  ChatRequest,
  MessagesEvent,
  MessagesRequest,
  ResponsesEvent,
  ResponsesRequest,
  type Telemetry,
} from "@somnus/contract";
import type { TSchema } from "typebox";
import Value from "typebox/value";
import { SomnusError } from "../../../http/errors.js";
import * as anthropic from "../../anthropic/index.js";
import type { AskedGeneration, GenerationEvent } from "../../generation.js";
import * as chat from "../../openai-chat/index.js";
import * as responses from "../../openai-responses/index.js";
import type {
  FailedAnswer,
  VendorFailure,
  VendorReading,
  WrittenRequest,
} from "../../vendor/index.js";
import { each, joined, told } from "./events.js";
import { normalAnthropic, normalChat, normalResponses } from "./normal-requests.js";

/** A format with both of its directions, as the suite uses it. */
export interface Format {
  readonly name: "openai-chat" | "anthropic" | "openai-responses";
  /** Most alternatives of one answer. */
  readonly choices: number;
  /** Whether a text without a visible character keeps its place. */
  readonly blanks: boolean;
  readonly sounds: boolean;
  write(request: AskedGeneration): WrittenRequest;
  /** Reads a body that `write` gave, as the door would. */
  read(body: unknown): AskedGeneration;
  /** As much of a request as the format can carry. */
  normal(request: AskedGeneration): AskedGeneration;
  /** The events on the wire, each as its name and its data. */
  stream(events: AsyncIterable<GenerationEvent>, choices: number): Promise<WireEvent[]>;
  whole(events: readonly GenerationEvent[], choices: number): Promise<unknown>;
  readStream(
    bytes: AsyncIterable<Uint8Array>,
    reading?: VendorReading,
  ): AsyncGenerator<GenerationEvent, void, undefined>;
  readWhole(body: unknown, reading?: VendorReading): GenerationEvent[];
  readError(answer: FailedAnswer, now?: number): VendorFailure;
  /** As much of an answer as the format can carry, in the order in which it is read. */
  carried(events: readonly GenerationEvent[]): GenerationEvent[];
  /** What stands in an event, a word or two. */
  outline(event: WireEvent): string;
}

/** A server-sent event before it is framed. */
export interface WireEvent {
  name: string | null;
  data: unknown;
}

/** An event that is sent without JSON. */
const DONE: WireEvent = { name: null, data: "[DONE]" };

const LIMITS = { max_prompt_chars: 1e9, max_tokens_cap: 1e9, default_max_tokens: 77 };
const ID = `resp_${"0123456789abcdef".repeat(2)}`;
const TELEMETRY = {} as Telemetry;
const telemetry = () => TELEMETRY;

/** The body as a client would send it. @throws Error where the door would refuse it */
function sent<Body>(schema: TSchema, body: unknown): Body {
  const received: unknown = JSON.parse(JSON.stringify(body));
  requireFit(schema, received);
  return received as Body;
}

function requireFit(schema: TSchema, value: unknown): void {
  const [fault] = Value.Errors(schema, value);
  if (fault) throw new Error(`${JSON.stringify(fault)} in ${JSON.stringify(value)}`);
}

/** Telemetry is made up here, so it is no part of what is checked. */
function requireEvent(schema: TSchema, event: unknown): void {
  const bare = JSON.parse(JSON.stringify(event)) as Record<string, unknown>;
  for (const holder of [bare, bare.response as Record<string, unknown> | undefined]) {
    if (holder) delete holder.hypnos_telemetry;
  }
  if (bare.type !== "message_delta") requireFit(schema, bare);
}

async function gather<Item>(
  schema: TSchema,
  items: AsyncIterable<Item>,
  onError: (error: SomnusError) => Item,
): Promise<Item[]> {
  const all: Item[] = [];
  try {
    for await (const item of items) all.push(item);
  } catch (error) {
    if (!(error instanceof SomnusError)) throw error;
    all.push(onError(error));
  }
  for (const item of all) requireEvent(schema, item);
  return all;
}

/** The alternative that an event belongs to. */
const choiceOf = (event: GenerationEvent): number[] => ("choice" in event ? [event.choice] : []);

const named = <Item extends { type: string }>(items: Item[]): WireEvent[] =>
  items.map((data) => ({ name: data.type, data }));

const CHAT: Format = {
  name: "openai-chat",
  choices: 4,
  blanks: true,
  sounds: true,
  write: (request) =>
    chat.writeChatRequest(request, {
      model: "m",
      stream: true,
      knows: new Set([
        "max_completion_tokens",
        "top_k",
        "min_p",
        "repeat_penalty",
        "num_ctx",
        "think",
        "reasoning_effort",
      ]),
    }),
  read: (body) => chat.readChatRequest(sent<ChatRequest>(ChatRequest, body), LIMITS).generation,
  normal: normalChat,
  async stream(events, choices) {
    const head = { id: "chatcmpl-1", created: 1, model: "m" };
    const how = { head, choices, showThoughts: true, includeUsage: true, topLogprobs: 1 };
    const chunks = await gather(
      ChatChunk,
      chat.writeChatStream(events, { ...how, telemetry }),
      (error) => chat.writeChatErrorChunk(head, error, { choice: 0, includeUsage: true }),
    );
    return [...chunks.map((data) => ({ name: null, data })), DONE];
  },
  whole: (events, choices) =>
    chat.writeChatResponse(each(events), {
      head: { id: "chatcmpl-1", created: 1, model: "m" },
      choices,
      showThoughts: true,
      topLogprobs: 1,
      telemetry,
    }),
  readStream: chat.readChatStream,
  readWhole: chat.readChatResponse,
  readError: chat.readChatError,
  carried(events) {
    const all = told(events);
    const counts = all.flatMap((event) => (event.type === "usage" ? [event] : []));
    const [first] = counts;
    const completionTokens = counts.reduce((sum, one) => sum + one.usage.completionTokens, 0);
    const choices = [...new Set(all.flatMap(choiceOf))].sort((a, b) => a - b);
    const ends = choices.flatMap((choice) => {
      const own = all.filter((event) => choiceOf(event)[0] === choice);
      return [
        ...own.filter(({ type }) => type === "call"),
        ...own.flatMap((event) =>
          event.type === "finish" ? [{ type: event.type, choice, reason: event.reason }] : [],
        ),
      ];
    });
    const last = choices.at(-1) ?? 0;
    return [
      ...all.filter(({ type }) => type !== "call" && type !== "finish" && type !== "usage"),
      ...ends,
      ...(first ? [{ ...first, choice: last, usage: { ...first.usage, completionTokens } }] : []),
    ];
  },
  outline({ data }) {
    if (typeof data === "string") return data;
    const { choices, usage, error } = data as ChatChunk;
    const [choice] = choices;
    if (!choice) return usage ? "usage" : "nothing";
    if (error) return "error";
    const index = choice.index > 0 ? `${choice.index} ` : "";
    if (choice.finish_reason) return `${index}${choice.finish_reason}`;
    const [field] = Object.keys(choice.delta);
    return `${index}${field}`;
  },
};

const ANTHROPIC: Format = {
  name: "anthropic",
  choices: 1,
  blanks: false,
  sounds: false,
  write: (request) =>
    anthropic.writeMessagesRequest(request, {
      model: "m",
      stream: true,
      thinks: true,
      knows: new Set(["adaptive_thinking", "output_format"]),
    }),
  read: (body) =>
    anthropic.readMessagesRequest(sent<MessagesRequest>(MessagesRequest, body), LIMITS).generation,
  normal: normalAnthropic,
  async stream(events) {
    const head = { id: "msg_1", model: "m" };
    return named(
      await gather<MessagesEvent>(
        MessagesEvent,
        anthropic.writeMessagesStream(events, { head, showThoughts: true, telemetry }),
        (error) => anthropic.writeMessagesError(error, "req_1"),
      ),
    );
  },
  whole: (events) =>
    anthropic.writeMessagesResponse(each(events), {
      head: { id: "msg_1", model: "m" },
      showThoughts: true,
      telemetry,
    }),
  readStream: anthropic.readMessagesStream,
  readWhole: anthropic.readMessagesResponse,
  readError: anthropic.readMessagesError,
  carried: (events) =>
    told(events).map((event): GenerationEvent => {
      switch (event.type) {
        case "text":
        case "refusal":
          return { type: "text", choice: 0, text: event.text };
        case "usage": {
          const { reasoningTokens: _, ...counts } = event.usage;
          return { ...event, usage: counts };
        }
        case "call": {
          const args = JSON.stringify(JSON.parse(event.call.arguments));
          return { ...event, call: { ...event.call, arguments: args } };
        }
        default:
          return event;
      }
    }),
  outline({ data }) {
    const event = data as MessagesEvent;
    if (event.type === "content_block_start") return `+${event.content_block.type}`;
    if (event.type === "content_block_delta") return event.delta.type.replace("_delta", "");
    if (event.type === "content_block_stop") return "-";
    return event.type === "message_delta" ? `${event.delta.stop_reason}` : event.type;
  },
};

function responsesWriter(): responses.ResponsesWriter {
  const call = responses.readResponsesRequest(
    { input: "Hi" },
    ID,
    { chain: [], responses: [] },
    LIMITS,
  );
  const head = { id: ID, createdAt: 1, model: "m", echo: call.echo };
  return new responses.ResponsesWriter(head, { thoughts: "text", topLogprobs: 1, now: () => 2 });
}

const RESPONSES: Format = {
  name: "openai-responses",
  choices: 1,
  blanks: true,
  sounds: true,
  write: (request) =>
    responses.writeResponsesRequest(request, {
      model: "m",
      stream: true,
      knows: new Set(["reasoning", "reasoning_summary", "sampling", "logprobs"]),
    }),
  read: (body) =>
    responses.readResponsesRequest(
      sent<ResponsesRequest>(ResponsesRequest, body),
      ID,
      { chain: [], responses: [] },
      LIMITS,
    ).generation,
  normal: normalResponses,
  async stream(events) {
    const writer = responsesWriter();
    return named(
      await gather<ResponsesEvent>(ResponsesEvent, writer.write(events, telemetry), (error) =>
        writer.fail(error),
      ),
    );
  },
  whole: (events) => responses.writeResponsesAnswer(responsesWriter(), each(events), telemetry),
  readStream: responses.readResponsesStream,
  readWhole: responses.readResponsesResponse,
  readError: responses.readResponsesError,
  carried: (events) =>
    told(events).map((event): GenerationEvent => {
      if (event.type === "finish") return { type: "finish", choice: 0, reason: event.reason };
      if (event.type !== "usage") return event;
      const { cacheWriteTokens: _, ...counts } = event.usage;
      return { ...event, usage: counts };
    }),
  outline: ({ name }) => `${name}`.replace("response.", ""),
};

export const FORMATS: readonly Format[] = [CHAT, ANTHROPIC, RESPONSES];

/** The events as bytes of a stream. */
export function framed(events: readonly WireEvent[], newline = "\n"): Uint8Array {
  const frames = events.map(({ name, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const event = name === null ? "" : `event: ${name}${newline}`;
    return `${event}data: ${text}${newline}${newline}`;
  });
  return new TextEncoder().encode(frames.join(""));
}

/** The bytes in pieces that end where told. */
export async function* cut(bytes: Uint8Array, ...ends: number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Everything that a stream gives. */
export async function taken(events: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const all: GenerationEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What comes of a stream, its pieces joined, and the error that ended it. */
export async function outcome(
  events: AsyncIterable<GenerationEvent>,
): Promise<{ events: GenerationEvent[]; error: unknown }> {
  const all: GenerationEvent[] = [];
  try {
    for await (const event of events) all.push(event);
  } catch (error) {
    return { events: joined(all), error };
  }
  return { events: joined(all), error: null };
}
