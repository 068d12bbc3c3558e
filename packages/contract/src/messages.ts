import Type, { type Static } from "typebox";
import { MAX_TOOLS } from "./chat.js";
import { MAX_STOPS, StopText } from "./generation-fields.js";
import { Maybe, OneOf, Schema } from "./schema.js";
import { Telemetry } from "./telemetry.js";

/** Who can have said a message of the Messages API; `system` in the middle of a conversation, too. */
export const MESSAGE_ROLES = ["user", "assistant", "system"] as const;

const Text = Type.Object({ type: Type.Literal("text"), text: Type.String() });

const FileSource = Type.Object({ type: Type.Literal("file"), file_id: Type.String() });
const UrlSource = Type.Object({ type: Type.Literal("url"), url: Type.String() });
const BytesSource = Type.Object({
  type: Type.Literal("base64"),
  media_type: Type.String(),
  data: Type.String(),
});

const Image = Type.Object({
  type: Type.Literal("image"),
  source: Type.Union([BytesSource, UrlSource, FileSource]),
});

const Document = Type.Object({
  type: Type.Literal("document"),
  title: Maybe(Type.String()),
  context: Maybe(Type.String()),
  source: Type.Union([
    Type.Object({ type: Type.Literal("text"), data: Type.String() }),
    Type.Object({
      type: Type.Literal("content"),
      content: Type.Union([Type.String(), Type.Array(Type.Union([Text, Image]))]),
    }),
    BytesSource,
    UrlSource,
    FileSource,
  ]),
});

const SearchResult = Type.Object({
  type: Type.Literal("search_result"),
  title: Type.String(),
  source: Type.String(),
  content: Type.Array(Text),
});

const ToolUse = Type.Object({
  type: Type.Literal("tool_use"),
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  input: Type.Record(Type.String(), Type.Unknown()),
});

const Thinking = Type.Object({
  type: Type.Literal("thinking"),
  thinking: Type.String(),
  signature: Maybe(Type.String()),
});

/** What a message or the result of a tool shows to the model. */
export const ShownBlock = Schema(Type.Union([Text, Image, Document, SearchResult]));
export type ShownBlock = Static<typeof ShownBlock>;

/** One block of a message's content. */
export const MessageBlock = Schema(
  Type.Union([
    Text,
    Image,
    Document,
    SearchResult,
    Thinking,
    Type.Object({ type: Type.Literal("redacted_thinking"), data: Maybe(Type.String()) }),
    ToolUse,
    Type.Object({
      type: Type.Literal("tool_result"),
      tool_use_id: Type.String({ minLength: 1 }),
      content: Maybe(Type.Union([Type.String(), Type.Array(ShownBlock)])),
      is_error: Maybe(Type.Boolean()),
    }),
  ]),
);
export type MessageBlock = Static<typeof MessageBlock>;

/** One message of a conversation, as the Messages API has it. */
export const MessageParam = Schema(
  Type.Object(
    {
      role: OneOf(MESSAGE_ROLES),
      content: Type.Union([Type.String(), Type.Array(MessageBlock)]),
    },
    { $id: "MessageParam" },
  ),
);
export type MessageParam = Static<typeof MessageParam>;

/** A function of the client that the model may call. */
export const MessageTool = Schema(
  Type.Object({
    type: Maybe(
      Type.String({ description: '"custom"; tools that Anthropic defines are refused.' }),
    ),
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: Maybe(Type.String()),
    input_schema: Maybe(Type.Record(Type.String(), Type.Unknown())),
  }),
);
export type MessageTool = Static<typeof MessageTool>;

const single = { disable_parallel_tool_use: Maybe(Type.Boolean()) };

/** How far the model is free to call tools. */
export const MessageToolChoice = Schema(
  Type.Union([
    Type.Object({ type: Type.Literal("auto"), ...single }),
    Type.Object({ type: Type.Literal("any"), ...single }),
    Type.Object({ type: Type.Literal("tool"), name: Type.String({ minLength: 1 }), ...single }),
    Type.Object({ type: Type.Literal("none") }),
  ]),
);
export type MessageToolChoice = Static<typeof MessageToolChoice>;

const display = { display: Maybe(OneOf(["summarized", "omitted"])) };

const OutputFormat = Type.Object({
  type: Type.Literal("json_schema"),
  schema: Type.Record(Type.String(), Type.Unknown()),
});

/** What decides the prompt, and so how many tokens it has. */
const PROMPT = {
  model: Maybe(
    Type.String({ minLength: 1, description: "The id of a model of the pool, or an alias." }),
  ),
  messages: Type.Array(MessageParam, { minItems: 1 }),
  system: Maybe(Type.Union([Type.String(), Type.Array(Text)])),
  tools: Maybe(Type.Array(MessageTool, { maxItems: MAX_TOOLS })),
  tool_choice: Maybe(MessageToolChoice),
  thinking: Maybe(
    Type.Union([
      Type.Object({
        type: Type.Literal("enabled"),
        budget_tokens: Type.Integer({ minimum: 1, maximum: 2147483647 }),
        ...display,
      }),
      Type.Object({ type: Type.Literal("adaptive"), ...display }),
      Type.Object({ type: Type.Literal("disabled") }),
    ]),
  ),
  output_config: Maybe(
    Type.Object({
      format: Maybe(OutputFormat),
      effort: Maybe(
        OneOf(["low", "medium", "high", "xhigh", "max"], {
          description:
            "With adaptive thinking: low is 512 tokens of it, medium 2048, high 6144, above that as many as the model wants.",
        }),
      ),
    }),
  ),
  output_format: Maybe(OutputFormat),
};

/** `POST /v1/messages/count_tokens`. Unknown fields are allowed and ignored. */
export const CountTokensRequest = Schema(Type.Object(PROMPT, { $id: "CountTokensRequest" }));
export type CountTokensRequest = Static<typeof CountTokensRequest>;

/** The answer of `POST /v1/messages/count_tokens`. */
export const CountTokensResponse = Schema(
  Type.Object(
    { input_tokens: Type.Integer({ description: "Counted by the engine, template included." }) },
    { $id: "CountTokensResponse" },
  ),
);
export type CountTokensResponse = Static<typeof CountTokensResponse>;

/** `POST /v1/messages`. Unknown fields are allowed and ignored. */
export const MessagesRequest = Schema(
  Type.Object(
    {
      ...PROMPT,
      max_tokens: Type.Integer({ minimum: 1, description: "Clamped to limits.max_tokens_cap." }),
      stream: Maybe(Type.Boolean()),
      thread: Maybe(
        Type.Unknown({
          description: "Refused: every request brings its whole conversation.",
        }),
      ),
      stop_sequences: Maybe(Type.Array(StopText, { maxItems: MAX_STOPS })),
      temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 })),
      top_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
      top_k: Maybe(Type.Integer({ minimum: 0, maximum: 2147483647 })),
    },
    { $id: "MessagesRequest" },
  ),
);
export type MessagesRequest = Static<typeof MessagesRequest>;

/** Why an answer ended. */
export const STOP_REASONS = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "refusal",
] as const;

/** One block of an answer. */
export const AnswerBlock = Schema(
  Type.Union([
    Type.Object({
      type: Type.Literal("thinking"),
      thinking: Type.String(),
      signature: Type.String({ description: "Says nothing; thoughts are not signed here." }),
    }),
    Type.Object({ type: Type.Literal("text"), text: Type.String() }),
    ToolUse,
  ]),
);
export type AnswerBlock = Static<typeof AnswerBlock>;

/** Tokens counted by the engine. The prompt's are the sum of the three that say input. */
export const MessageUsage = Schema(
  Type.Object(
    {
      input_tokens: Type.Integer({ description: "Prompt tokens that were computed." }),
      cache_creation_input_tokens: Type.Integer({
        description: "Prompt tokens that a vendor wrote to its cache; 0 for models of the pool.",
      }),
      cache_read_input_tokens: Type.Integer({
        description: "Prompt tokens taken from the slot's KV cache.",
      }),
      output_tokens: Type.Integer(),
    },
    { $id: "MessageUsage" },
  ),
);
export type MessageUsage = Static<typeof MessageUsage>;

const MESSAGE = {
  id: Type.String(),
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: Type.String({ description: "The id of the model that answers." }),
  content: Type.Array(AnswerBlock),
  stop_reason: Type.Union([OneOf(STOP_REASONS), Type.Null()]),
  stop_sequence: Type.Union([Type.String(), Type.Null()]),
  usage: MessageUsage,
};

/** The answer of a message that was not streamed. */
export const MessagesResponse = Schema(
  Type.Object({ ...MESSAGE, hypnos_telemetry: Telemetry }, { $id: "MessagesResponse" }),
);
export type MessagesResponse = Static<typeof MessagesResponse>;

/** The error body of the Messages API's routes. */
export const MessagesError = Schema(
  Type.Object(
    {
      type: Type.Literal("error"),
      error: Type.Object({
        type: OneOf([
          "invalid_request_error",
          "authentication_error",
          "permission_error",
          "not_found_error",
          "request_too_large",
          "rate_limit_error",
          "overloaded_error",
          "timeout_error",
          "api_error",
        ]),
        message: Type.String(),
        details: Type.Optional(
          Type.Object({
            error_code: Type.Literal("thread_unsupported_request"),
            unsupported: Type.Array(Type.String()),
          }),
        ),
      }),
      request_id: Type.String(),
    },
    { $id: "MessagesError", description: "What went wrong; the message names the field." },
  ),
);
export type MessagesError = Static<typeof MessagesError>;

const Delta = Type.Union([
  Type.Object({ type: Type.Literal("thinking_delta"), thinking: Type.String() }),
  Type.Object({ type: Type.Literal("signature_delta"), signature: Type.String() }),
  Type.Object({ type: Type.Literal("text_delta"), text: Type.String() }),
  Type.Object({ type: Type.Literal("input_json_delta"), partial_json: Type.String() }),
]);

/** One event of a streamed message. */
export const MessagesEvent = Schema(
  Type.Union([
    Type.Object({ type: Type.Literal("message_start"), message: Type.Object(MESSAGE) }),
    Type.Object({
      type: Type.Literal("content_block_start"),
      index: Type.Integer(),
      content_block: AnswerBlock,
    }),
    Type.Object({
      type: Type.Literal("content_block_delta"),
      index: Type.Integer(),
      delta: Delta,
    }),
    Type.Object({ type: Type.Literal("content_block_stop"), index: Type.Integer() }),
    Type.Object({
      type: Type.Literal("message_delta"),
      delta: Type.Object({
        stop_reason: OneOf(STOP_REASONS),
        stop_sequence: Type.Union([Type.String(), Type.Null()]),
      }),
      usage: MessageUsage,
      hypnos_telemetry: Telemetry,
    }),
    Type.Object({ type: Type.Literal("message_stop") }),
    Type.Object({ type: Type.Literal("ping") }),
    MessagesError,
  ]),
);
export type MessagesEvent = Static<typeof MessagesEvent>;
