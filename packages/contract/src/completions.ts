import Type, { type Static } from "typebox";
import { Usage } from "./chat.js";
import { TokenIds } from "./embeddings.js";
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

/** Most prompts of one request. */
export const MAX_PROMPTS = 128;

/** `POST /v1/completions`: texts that a model goes on with as they are. Unknown fields are allowed and ignored. */
export const CompletionRequest = Schema(
  Type.Object(
    {
      model: Maybe(Type.String({ minLength: 1, description: "The id of a model of the pool." })),
      prompt: Type.Union(
        [Type.String(), Type.Array(Type.String()), TokenIds, Type.Array(TokenIds)],
        {
          description: `A text, texts, the token ids of a text or of texts; at most ${MAX_PROMPTS}.`,
        },
      ),
      suffix: Maybe(
        Type.String({
          description:
            "What stands after what is to be written. Only for texts, and models that have tokens for such a gap.",
        }),
      ),
      max_tokens: MaxTokensField,
      ...SAMPLING_FIELDS,
      stop: StopField,
      n: Maybe(Type.Integer({ minimum: 1, maximum: MAX_CHOICES, description: "For each prompt." })),
      best_of: Maybe(
        Type.Integer({
          minimum: 1,
          maximum: MAX_CHOICES,
          description:
            "So many are generated for each prompt, and the n most likely ones answered. Not with stream.",
        }),
      ),
      echo: Maybe(
        Type.Boolean({
          description: "Whether each answer begins with its prompt. Not with logprobs.",
        }),
      ),
      logprobs: Maybe(
        Type.Integer({
          minimum: 0,
          maximum: 20,
          description:
            "The log probability of each token, and of so many likely ones in its place.",
        }),
      ),
      stream: Maybe(Type.Boolean()),
      stream_options: StreamOptions,
      num_ctx: ContextField,
      keep_alive: KeepAliveField,
    },
    { $id: "CompletionRequest" },
  ),
);
export type CompletionRequest = Static<typeof CompletionRequest>;

/** Lists of the same length, an entry for each token of an answer. */
export const CompletionLogprobs = Schema(
  Type.Object({
    tokens: Type.Array(Type.String()),
    token_logprobs: Type.Array(Type.Number()),
    top_logprobs: Type.Array(Type.Record(Type.String(), Type.Number())),
    text_offset: Type.Array(
      Type.Integer({
        description: "Where the token begins in the text, in characters (code points).",
      }),
    ),
  }),
);
export type CompletionLogprobs = Static<typeof CompletionLogprobs>;

/** What a completion and each event of a streamed one begin with. */
const HEAD = {
  id: Type.String(),
  object: Type.Literal("text_completion"),
  created: Type.Integer(),
  model: Type.String(),
};

/** What a choice is, whole or a piece of it, beside how it ended. */
const CHOICE = {
  text: Type.String(),
  index: Type.Integer(),
  logprobs: Type.Union([CompletionLogprobs, Type.Null()]),
};

/** The answer of a completion that was not streamed. */
export const CompletionResponse = Schema(
  Type.Object(
    {
      ...HEAD,
      choices: Type.Array(
        Type.Object({
          ...CHOICE,
          finish_reason: OneOf(["stop", "length", "content_filter"]),
        }),
      ),
      usage: Usage,
      hypnos_telemetry: Telemetry,
    },
    { $id: "CompletionResponse" },
  ),
);
export type CompletionResponse = Static<typeof CompletionResponse>;

/** One event of a streamed completion. */
export const CompletionChunk = Schema(
  Type.Object(
    {
      ...HEAD,
      choices: Type.Array(
        Type.Object({
          ...CHOICE,
          finish_reason: Type.Union([
            OneOf(["stop", "length", "content_filter", "error"]),
            Type.Null(),
          ]),
        }),
      ),
      usage: Type.Optional(Type.Union([Usage, Type.Null()])),
      hypnos_telemetry: Type.Optional(Telemetry),
      error: Type.Optional(StreamError),
    },
    { $id: "CompletionChunk" },
  ),
);
export type CompletionChunk = Static<typeof CompletionChunk>;
