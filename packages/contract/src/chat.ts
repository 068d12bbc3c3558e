import Type, { type Static } from "typebox";
import {
  ContextField,
  KeepAliveField,
  MAX_CHOICES,
  MaxTokensField,
  SAMPLING_FIELDS,
  StopField,
  StreamError,
  StreamOptions,
} from "./generation-fields.js";
import { Maybe, OneOf, Schema } from "./schema.js";
import { Telemetry } from "./telemetry.js";

/** Who can have said a message. */
export const CHAT_ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

const TextPart = Type.Object({ type: Type.Literal("text"), text: Type.String() });
const RefusalPart = Type.Object({ type: Type.Literal("refusal"), refusal: Type.String() });
const ImagePart = Type.Object({
  type: Type.Literal("image_url"),
  image_url: Type.Object({ url: Type.String(), detail: Maybe(Type.String()) }),
});
const AudioPart = Type.Object({
  type: Type.Literal("input_audio"),
  input_audio: Type.Object({ data: Type.String(), format: Maybe(Type.String()) }),
});

/** One part of a message's content. */
export const ContentPart = Schema(Type.Union([TextPart, ImagePart, AudioPart, RefusalPart]));
export type ContentPart = Static<typeof ContentPart>;

/** A call that an assistant made in an earlier turn. */
const PastToolCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Maybe(Type.Literal("function")),
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    arguments: Type.String({ description: "A JSON object as text; empty: no arguments." }),
  }),
});
const PastFunctionCall = Type.Object({
  name: Type.String({ minLength: 1 }),
  arguments: Type.String(),
});

/** One message of a conversation. */
export const ChatMessage = Schema(
  Type.Object(
    {
      role: OneOf(CHAT_ROLES),
      content: Maybe(Type.Union([Type.String(), Type.Array(ContentPart)])),
      name: Maybe(Type.String()),
      tool_call_id: Maybe(
        Type.String({ description: "Of a tool's message: the call that it answers." }),
      ),
      tool_calls: Maybe(
        Type.Array(PastToolCall, { description: "Of an assistant's message: the calls it made." }),
      ),
      function_call: Maybe(PastFunctionCall),
      reasoning_content: Maybe(Type.String()),
    },
    { $id: "ChatMessage" },
  ),
);
export type ChatMessage = Static<typeof ChatMessage>;

const FunctionName = Type.String({ minLength: 1, maxLength: 256 });
/** Most functions that one request may offer. */
export const MAX_TOOLS = 512;

const FunctionTool = Type.Object({
  name: FunctionName,
  description: Maybe(Type.String()),
  parameters: Maybe(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "JSON schema of the arguments, an object; absent: no arguments.",
    }),
  ),
  strict: Maybe(Type.Boolean()),
});

/** A function that the model may ask its client to run. */
export const ChatTool = Schema(
  Type.Object({ type: Type.Literal("function"), function: FunctionTool }, { $id: "ChatTool" }),
);
export type ChatTool = Static<typeof ChatTool>;

/** How far the model is free to call functions. */
export const ChatToolChoice = Schema(
  Type.Union([
    OneOf(["none", "auto", "required"]),
    Type.Object({
      type: Type.Literal("function"),
      function: Type.Object({ name: FunctionName }),
    }),
  ]),
);
export type ChatToolChoice = Static<typeof ChatToolChoice>;

/** The form the answer has to take. */
export const ResponseFormat = Schema(
  Type.Union([
    Type.Object({ type: Type.Literal("text") }),
    Type.Object({ type: Type.Literal("json_object") }),
    Type.Object({
      type: Type.Literal("json_schema"),
      json_schema: Type.Object({
        name: Maybe(Type.String()),
        description: Maybe(Type.String()),
        schema: Maybe(Type.Record(Type.String(), Type.Unknown())),
        strict: Maybe(Type.Boolean()),
      }),
    }),
  ]),
);
export type ResponseFormat = Static<typeof ResponseFormat>;

/** `POST /v1/chat/completions`. Unknown fields are allowed and ignored. */
export const ChatRequest = Schema(
  Type.Object(
    {
      model: Maybe(Type.String({ minLength: 1, description: "The id of a model of the pool." })),
      messages: Type.Array(ChatMessage, { minItems: 1 }),
      max_tokens: MaxTokensField,
      max_completion_tokens: Maybe(
        Type.Integer({ minimum: 1, description: "Same as max_tokens, and wins over it." }),
      ),
      max_output_tokens: Maybe(
        Type.Integer({ minimum: 1, description: "Same as max_tokens, which wins over it." }),
      ),
      ...SAMPLING_FIELDS,
      stop: StopField,
      n: Maybe(Type.Integer({ minimum: 1, maximum: MAX_CHOICES })),
      logprobs: Maybe(Type.Boolean()),
      top_logprobs: Maybe(Type.Integer({ minimum: 0, maximum: 20 })),
      response_format: Maybe(ResponseFormat),
      stream: Maybe(Type.Boolean()),
      stream_options: StreamOptions,
      num_ctx: ContextField,
      keep_alive: KeepAliveField,
      think: Maybe(
        Type.Boolean({
          description: "Whether the model thinks before it answers; ignored where it cannot.",
        }),
      ),
      reasoning_effort: Maybe(
        OneOf(["none", "minimal", "low", "medium", "high", "xhigh"], {
          description:
            "Thinking within a budget: low and minimal 512 tokens, medium 2048, high 6144, xhigh as many as the model wants. Wins over think.",
        }),
      ),
      enable_thinking: Maybe(
        Type.Boolean({
          description:
            "Thinking that is not shown unless show_thinking says so. 400 where the model cannot do as asked.",
        }),
      ),
      enable_reasoning: Maybe(Type.Boolean({ description: "Same as enable_thinking." })),
      show_thinking: Maybe(Type.Boolean({ description: "Whether thoughts are in the answer." })),
      show_reasoning: Maybe(Type.Boolean({ description: "Same as show_thinking." })),
      tools: Maybe(
        Type.Array(ChatTool, {
          maxItems: MAX_TOOLS,
          description: "Functions that the model may ask for; an empty list is none.",
        }),
      ),
      tool_choice: Maybe(ChatToolChoice),
      parallel_tool_calls: Maybe(
        Type.Boolean({ description: "Whether one answer may hold several calls; it may." }),
      ),
      functions: Maybe(
        Type.Array(FunctionTool, {
          maxItems: MAX_TOOLS,
          description: "Older form of tools, read where there are none.",
        }),
      ),
      function_call: Maybe(
        Type.Union([OneOf(["none", "auto"]), Type.Object({ name: FunctionName })], {
          description: "Older form of tool_choice.",
        }),
      ),
      modalities: Maybe(Type.Array(Type.String())),
      web_search_options: Maybe(Type.Unknown()),
    },
    { $id: "ChatRequest" },
  ),
);
export type ChatRequest = Static<typeof ChatRequest>;

const TopLogprob = Type.Object({
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
});
/** The log probability of one generated token, and of the most likely ones in its place. */
export const TokenLogprob = Schema(
  Type.Object({
    token: Type.String(),
    logprob: Type.Number(),
    bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
    top_logprobs: Type.Array(TopLogprob),
  }),
);
export type TokenLogprob = Static<typeof TokenLogprob>;

const Logprobs = Type.Union([
  Type.Object({
    content: Type.Union([Type.Array(TokenLogprob), Type.Null()]),
    refusal: Type.Optional(Type.Null()),
  }),
  Type.Null(),
]);

/** Tokens counted by the engine. */
export const Usage = Schema(
  Type.Object(
    {
      prompt_tokens: Type.Integer(),
      completion_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
      prompt_tokens_details: Type.Optional(Type.Object({ cached_tokens: Type.Integer() })),
      completion_tokens_details: Type.Optional(
        Type.Object({
          reasoning_tokens: Type.Integer({ description: "Told where a vendor counted them." }),
        }),
      ),
    },
    { $id: "Usage" },
  ),
);
export type Usage = Static<typeof Usage>;

/** One call of a function, its arguments a JSON object as text. */
export const ChatToolCall = Schema(
  Type.Object({
    id: Type.String(),
    type: Type.Literal("function"),
    function: Type.Object({ name: Type.String(), arguments: Type.String() }),
  }),
);
export type ChatToolCall = Static<typeof ChatToolCall>;

/** Why an answer ended. */
export const FINISH_REASONS = ["stop", "length", "tool_calls", "content_filter"] as const;

/** The answer of a chat that was not streamed. */
export const ChatResponse = Schema(
  Type.Object(
    {
      id: Type.String(),
      object: Type.Literal("chat.completion"),
      created: Type.Integer(),
      model: Type.String(),
      choices: Type.Array(
        Type.Object({
          index: Type.Integer(),
          message: Type.Object({
            role: Type.Literal("assistant"),
            content: Type.Union([Type.String(), Type.Null()]),
            reasoning_content: Type.Optional(Type.String()),
            refusal: Type.Optional(Type.Union([Type.String(), Type.Null()])),
            tool_calls: Type.Optional(Type.Array(ChatToolCall)),
          }),
          logprobs: Type.Optional(Logprobs),
          finish_reason: OneOf(FINISH_REASONS),
        }),
      ),
      usage: Usage,
      hypnos_telemetry: Telemetry,
    },
    { $id: "ChatResponse" },
  ),
);
export type ChatResponse = Static<typeof ChatResponse>;

/** One event of a streamed chat. */
export const ChatChunk = Schema(
  Type.Object(
    {
      id: Type.String(),
      object: Type.Literal("chat.completion.chunk"),
      created: Type.Integer(),
      model: Type.String(),
      choices: Type.Array(
        Type.Object({
          index: Type.Integer(),
          delta: Type.Object({
            role: Type.Optional(Type.Literal("assistant")),
            content: Type.Optional(Type.String()),
            reasoning_content: Type.Optional(Type.String()),
            refusal: Type.Optional(Type.String()),
            tool_calls: Type.Optional(
              Type.Array(Type.Intersect([Type.Object({ index: Type.Integer() }), ChatToolCall])),
            ),
          }),
          logprobs: Type.Optional(Logprobs),
          finish_reason: Type.Union([OneOf([...FINISH_REASONS, "error"]), Type.Null()]),
        }),
      ),
      usage: Type.Optional(Type.Union([Usage, Type.Null()])),
      hypnos_telemetry: Type.Optional(Telemetry),
      error: Type.Optional(StreamError),
    },
    { $id: "ChatChunk" },
  ),
);
export type ChatChunk = Static<typeof ChatChunk>;
