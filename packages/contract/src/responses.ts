import Type, { type Static } from "typebox";
import { MAX_TOOLS, TokenLogprob } from "./chat.js";
import { Maybe, OneOf, Schema } from "./schema.js";
import { Telemetry } from "./telemetry.js";

const nullable = <T extends Parameters<typeof Maybe>[0]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const InputText = Type.Object({ type: Type.Literal("input_text"), text: Type.String() });
const InputImage = Type.Object({
  type: Type.Literal("input_image"),
  image_url: Maybe(Type.String()),
  file_id: Maybe(Type.String()),
  detail: Maybe(Type.String()),
});
const InputAudio = Type.Object({
  type: Type.Literal("input_audio"),
  input_audio: Type.Object({ data: Type.String(), format: Maybe(Type.String()) }),
});
const InputFile = Type.Object({
  type: Type.Literal("input_file"),
  file_id: Maybe(Type.String()),
  file_url: Maybe(Type.String()),
  file_data: Maybe(Type.String()),
  filename: Maybe(Type.String()),
});
const Refusal = Type.Object({ type: Type.Literal("refusal"), refusal: Type.String() });
const OutputText = Type.Object({ type: Type.Literal("output_text"), text: Type.String() });

/** One part of a message, or of a function's result. */
export const ResponsesPart = Schema(
  Type.Union([InputText, InputImage, InputAudio, InputFile, OutputText, Refusal]),
);
export type ResponsesPart = Static<typeof ResponsesPart>;

/** Who can have said a message of the Responses API. */
export const RESPONSES_ROLES = ["user", "assistant", "system", "developer"] as const;

const NewItem = { id: Maybe(Type.String()), status: Maybe(Type.String()) };

/** One item of a request's input. */
export const ResponsesInputItem = Schema(
  Type.Union([
    Type.Object({
      ...NewItem,
      type: Type.Optional(Type.Literal("message")),
      role: OneOf(RESPONSES_ROLES),
      content: Type.Union([Type.String(), Type.Array(ResponsesPart)]),
    }),
    Type.Object({
      ...NewItem,
      type: Type.Literal("function_call"),
      call_id: Type.String({ minLength: 1 }),
      name: Type.String({ minLength: 1 }),
      namespace: Maybe(Type.String({ minLength: 1 })),
      arguments: Type.String(),
    }),
    Type.Object({
      ...NewItem,
      type: Type.Literal("function_call_output"),
      call_id: Type.String({ minLength: 1 }),
      output: Type.Union([Type.String(), Type.Array(ResponsesPart)]),
    }),
    Type.Object({
      ...NewItem,
      type: Type.Literal("reasoning"),
      summary: Maybe(Type.Array(Type.Unknown())),
      content: Maybe(Type.Array(Type.Unknown())),
      encrypted_content: Maybe(Type.String()),
    }),
    Type.Object({
      type: Type.Literal("item_reference"),
      id: Type.String({ description: "The id of an item of a stored response." }),
    }),
  ]),
);
export type ResponsesInputItem = Static<typeof ResponsesInputItem>;

const ToolFields = {
  type: Type.String(),
  name: Maybe(Type.String()),
  description: Maybe(Type.String()),
  parameters: Maybe(Type.Record(Type.String(), Type.Unknown())),
  strict: Maybe(Type.Boolean()),
};

/**
 * A tool that the client offers: a `function`, or a `namespace` that holds functions. Other kinds are left out,
 * and the answer's `tools` shows it.
 */
export const ResponsesTool = Schema(
  Type.Object({
    ...ToolFields,
    tools: Maybe(
      Type.Array(Type.Object(ToolFields), {
        maxItems: MAX_TOOLS,
        description: "The functions of a namespace.",
      }),
    ),
  }),
);
export type ResponsesTool = Static<typeof ResponsesTool>;

/** How far the model is free to call tools. */
export const ResponsesToolChoice = Schema(
  Type.Union([
    OneOf(["none", "auto", "required"]),
    Type.Object({
      type: Type.String(),
      name: Maybe(Type.String()),
      mode: Maybe(OneOf(["auto", "required"])),
      tools: Maybe(Type.Array(Type.Object({ type: Type.String(), name: Maybe(Type.String()) }))),
    }),
  ]),
);
export type ResponsesToolChoice = Static<typeof ResponsesToolChoice>;

/** The form that the answer's text has to take. */
export const ResponsesTextFormat = Schema(
  Type.Union([
    Type.Object({ type: Type.Literal("text") }),
    Type.Object({ type: Type.Literal("json_object") }),
    Type.Object({
      type: Type.Literal("json_schema"),
      name: Maybe(Type.String()),
      description: Maybe(Type.String()),
      schema: Type.Record(Type.String(), Type.Unknown()),
      strict: Maybe(Type.Boolean()),
    }),
  ]),
);
export type ResponsesTextFormat = Static<typeof ResponsesTextFormat>;

/** How much a model is asked to think. */
export const RESPONSES_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

/** As many and as long as OpenAI takes them. */
const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
});

/** `POST /v1/responses`. Unknown fields are allowed and ignored. */
export const ResponsesRequest = Schema(
  Type.Object(
    {
      model: Maybe(Type.String({ minLength: 1, description: "The id of a model of the pool." })),
      input: Type.Union([Type.String(), Type.Array(ResponsesInputItem)]),
      instructions: Maybe(Type.String()),
      tools: Maybe(Type.Array(ResponsesTool, { maxItems: MAX_TOOLS })),
      tool_choice: Maybe(ResponsesToolChoice),
      parallel_tool_calls: Maybe(Type.Boolean()),
      text: Maybe(
        Type.Object({ format: Maybe(ResponsesTextFormat), verbosity: Maybe(Type.String()) }),
      ),
      reasoning: Maybe(
        Type.Object({
          effort: Maybe(OneOf(RESPONSES_EFFORTS)),
          summary: Maybe(OneOf(["auto", "concise", "detailed", "none"])),
        }),
      ),
      max_output_tokens: Maybe(
        Type.Integer({ minimum: 1, description: "Clamped to limits.max_tokens_cap." }),
      ),
      temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 })),
      top_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
      top_logprobs: Maybe(Type.Integer({ minimum: 0, maximum: 20 })),
      stream: Maybe(Type.Boolean()),
      store: Maybe(
        Type.Boolean({ description: "Whether the response is kept; it is when left out." }),
      ),
      previous_response_id: Maybe(
        Type.String({ description: "A stored response that this one goes on from." }),
      ),
      include: Maybe(Type.Array(Type.String())),
      truncation: Maybe(OneOf(["auto", "disabled"])),
      metadata: Maybe(Metadata),
      user: Maybe(Type.String()),
      background: Maybe(Type.Boolean({ description: "Only false." })),
      conversation: Maybe(Type.Unknown({ description: "Only null." })),
      prompt: Maybe(Type.Unknown({ description: "Only null." })),
    },
    { $id: "ResponsesRequest" },
  ),
);
export type ResponsesRequest = Static<typeof ResponsesRequest>;

const STATES = ["in_progress", "completed", "incomplete"] as const;

const ReasoningText = Type.Object({ type: Type.Literal("reasoning_text"), text: Type.String() });
const SummaryText = Type.Object({ type: Type.Literal("summary_text"), text: Type.String() });
const AnswerText = Type.Object({
  type: Type.Literal("output_text"),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown()),
  logprobs: Type.Array(TokenLogprob),
});
/** The text of an answer, as its message holds it. */
export type ResponsesAnswerText = Static<typeof AnswerText>;

/** One item of an answer. */
export const ResponsesOutputItem = Schema(
  Type.Union([
    Type.Object({
      type: Type.Literal("message"),
      id: Type.String(),
      role: Type.Literal("assistant"),
      status: OneOf(STATES),
      content: Type.Array(Type.Union([AnswerText, Refusal])),
    }),
    Type.Object({
      type: Type.Literal("reasoning"),
      id: Type.String(),
      status: OneOf(STATES),
      summary: Type.Array(SummaryText),
      content: Type.Optional(Type.Array(ReasoningText)),
    }),
    Type.Object({
      type: Type.Literal("function_call"),
      id: Type.String(),
      status: OneOf(STATES),
      call_id: Type.String(),
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      arguments: Type.String(),
    }),
  ]),
);
export type ResponsesOutputItem = Static<typeof ResponsesOutputItem>;

/** One item of a response's input, as it is kept. */
export const ResponsesKeptItem = Schema(
  Type.Union([
    Type.Object({
      type: Type.Literal("message"),
      id: Type.String(),
      role: OneOf(RESPONSES_ROLES),
      status: OneOf(STATES),
      content: Type.Array(ResponsesPart),
    }),
    Type.Object({
      type: Type.Literal("function_call"),
      id: Type.String(),
      status: OneOf(STATES),
      call_id: Type.String(),
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      arguments: Type.String(),
    }),
    Type.Object({
      type: Type.Literal("function_call_output"),
      id: Type.String(),
      status: OneOf(STATES),
      call_id: Type.String(),
      output: Type.Union([Type.String(), Type.Array(ResponsesPart)]),
    }),
  ]),
);
export type ResponsesKeptItem = Static<typeof ResponsesKeptItem>;

/** Tokens counted by the engine; what was not measured is absent. */
export const ResponsesUsage = Schema(
  Type.Object(
    {
      input_tokens: Type.Integer(),
      input_tokens_details: Type.Object({
        cached_tokens: Type.Integer({
          description: "Prompt tokens taken from the slot's KV cache.",
        }),
      }),
      output_tokens: Type.Integer(),
      output_tokens_details: Type.Optional(
        Type.Object({ reasoning_tokens: Type.Integer({ description: "Known where it is 0." }) }),
      ),
      total_tokens: Type.Integer(),
    },
    { $id: "ResponsesUsage" },
  ),
);
export type ResponsesUsage = Static<typeof ResponsesUsage>;

/** The error of a failed response. */
export const ResponsesError = Schema(
  Type.Object({
    code: OneOf(["server_error", "rate_limit_exceeded", "invalid_prompt"]),
    message: Type.String(),
  }),
);
export type ResponsesError = Static<typeof ResponsesError>;

/** How a response can stand. */
export const RESPONSES_STATUSES = [
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "cancelled",
] as const;

/** A response, whole or as far as it is. */
export const ResponsesAnswer = Schema(
  Type.Object(
    {
      id: Type.String(),
      object: Type.Literal("response"),
      created_at: Type.Integer({ description: "Unix seconds." }),
      completed_at: nullable(Type.Integer()),
      status: OneOf(RESPONSES_STATUSES),
      error: nullable(ResponsesError),
      incomplete_details: nullable(
        Type.Object({ reason: OneOf(["max_output_tokens", "content_filter"]) }),
      ),
      model: Type.String({ description: "The id of the model that answers." }),
      instructions: nullable(Type.String()),
      output: Type.Array(ResponsesOutputItem),
      previous_response_id: nullable(Type.String()),
      tools: Type.Array(ResponsesTool, { description: "Those that the model was shown." }),
      tool_choice: ResponsesToolChoice,
      parallel_tool_calls: Type.Boolean(),
      text: Type.Object({ format: ResponsesTextFormat }),
      reasoning: Type.Object({
        effort: nullable(OneOf(RESPONSES_EFFORTS)),
        summary: nullable(Type.String()),
      }),
      max_output_tokens: Type.Integer({ description: "What the answer was held to." }),
      temperature: nullable(Type.Number()),
      top_p: nullable(Type.Number()),
      top_logprobs: Type.Integer(),
      truncation: Type.Literal("disabled"),
      background: Type.Literal(false),
      store: Type.Boolean({ description: "Whether the response is kept." }),
      metadata: Metadata,
      user: Type.Optional(Type.String()),
      usage: Type.Optional(ResponsesUsage),
      hypnos_telemetry: Type.Optional(Telemetry),
    },
    { $id: "ResponsesAnswer" },
  ),
);
export type ResponsesAnswer = Static<typeof ResponsesAnswer>;

const event = <const T extends string, P extends Record<string, Parameters<typeof Maybe>[0]>>(
  type: T,
  fields: P,
) => Type.Object({ type: Type.Literal(type), sequence_number: Type.Integer(), ...fields });

const whole = { response: ResponsesAnswer };
const item = { output_index: Type.Integer(), item: ResponsesOutputItem };
const inItem = { item_id: Type.String(), output_index: Type.Integer() };
const inPart = { ...inItem, content_index: Type.Integer() };
const inSummary = { ...inItem, summary_index: Type.Integer() };
const part = { ...inPart, part: Type.Union([AnswerText, Refusal, ReasoningText]) };

/** One event of a streamed response; they are numbered from 0. */
export const ResponsesEvent = Schema(
  Type.Union([
    event("response.created", whole),
    event("response.in_progress", whole),
    event("response.output_item.added", item),
    event("response.output_item.done", item),
    event("response.content_part.added", part),
    event("response.content_part.done", part),
    event("response.output_text.delta", {
      ...inPart,
      delta: Type.String(),
      logprobs: Type.Array(TokenLogprob),
    }),
    event("response.output_text.done", {
      ...inPart,
      text: Type.String(),
      logprobs: Type.Array(TokenLogprob),
    }),
    event("response.refusal.delta", { ...inPart, delta: Type.String() }),
    event("response.refusal.done", { ...inPart, refusal: Type.String() }),
    event("response.reasoning_text.delta", { ...inPart, delta: Type.String() }),
    event("response.reasoning_text.done", { ...inPart, text: Type.String() }),
    event("response.reasoning_summary_part.added", { ...inSummary, part: SummaryText }),
    event("response.reasoning_summary_part.done", { ...inSummary, part: SummaryText }),
    event("response.reasoning_summary_text.delta", { ...inSummary, delta: Type.String() }),
    event("response.reasoning_summary_text.done", { ...inSummary, text: Type.String() }),
    event("response.function_call_arguments.delta", { ...inItem, delta: Type.String() }),
    event("response.function_call_arguments.done", {
      ...inItem,
      name: Type.String(),
      arguments: Type.String(),
    }),
    event("response.completed", whole),
    event("response.incomplete", whole),
    event("response.failed", whole),
    event("error", {
      code: nullable(Type.String()),
      message: Type.String(),
      param: nullable(Type.String()),
    }),
  ]),
);
export type ResponsesEvent = Static<typeof ResponsesEvent>;

/** `GET /v1/responses/{id}` */
export const ResponsesQuery = Schema(
  Type.Object({
    stream: Type.Optional(Type.String({ description: 'Only "false".' })),
    include: Type.Optional(Type.Unknown()),
  }),
);

/** `GET /v1/responses/{id}/input_items` */
export const ResponsesItemsQuery = Schema(
  Type.Object({
    limit: Type.Optional(
      Type.String({ pattern: "^([1-9][0-9]?|100)$", description: "From 1 to 100; 20." }),
    ),
    order: Type.Optional(OneOf(["asc", "desc"], { description: "desc when left out." })),
    after: Type.Optional(Type.String({ description: "Items after the one with this id." })),
  }),
);

/** A page of a response's input. */
export const ResponsesItems = Schema(
  Type.Object(
    {
      object: Type.Literal("list"),
      data: Type.Array(ResponsesKeptItem),
      first_id: nullable(Type.String()),
      last_id: nullable(Type.String()),
      has_more: Type.Boolean(),
    },
    { $id: "ResponsesItems" },
  ),
);
export type ResponsesItems = Static<typeof ResponsesItems>;

/** That a response is kept no longer. */
export const ResponsesDeleted = Schema(
  Type.Object({
    id: Type.String(),
    object: Type.Literal("response"),
    deleted: Type.Literal(true),
  }),
);
export type ResponsesDeleted = Static<typeof ResponsesDeleted>;
