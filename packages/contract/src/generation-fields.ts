import Type from "typebox";
import { Maybe } from "./schema.js";

/** Most alternatives that one request may ask for. */
export const MAX_CHOICES = 16;
/** Most stop strings that one request may name. */
export const MAX_STOPS = 16;
/** Most tokens that one request may bias. */
const MAX_BIASED = 10_000;

/** A text that ends an answer. */
export const StopText = Type.String({ minLength: 1, maxLength: 1024 });

/** How tokens are chosen: the fields that every body of OpenAI's kind has for it. */
export const SAMPLING_FIELDS = {
  temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Maybe(Type.Integer({ minimum: 0, maximum: 2147483647 })),
  min_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
  repeat_penalty: Maybe(Type.Number({ minimum: 0, maximum: 10 })),
  presence_penalty: Maybe(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: Maybe(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: Maybe(
    Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }), {
      description: "Token id to bias.",
      maxProperties: MAX_BIASED,
    }),
  ),
  seed: Maybe(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
};

export const MaxTokensField = Maybe(
  Type.Integer({ minimum: 1, description: "Clamped to limits.max_tokens_cap." }),
);

export const StopField = Maybe(
  Type.Union([StopText, Type.Array(StopText, { maxItems: MAX_STOPS })]),
);

export const StreamOptions = Maybe(Type.Object({ include_usage: Maybe(Type.Boolean()) }));

/** What a stream tells that failed after its head. */
export const StreamError = Type.Object({
  message: Type.String(),
  type: Type.String(),
  code: Type.Optional(Type.String()),
});

export const ContextField = Maybe(
  Type.Integer({
    minimum: 1,
    maximum: 2147483647,
    description: "Tokens of context to reserve.",
  }),
);

export const KeepAliveField = Maybe(
  Type.Union([Type.Number(), Type.String()], {
    description:
      'How long the model stays loaded after this request: seconds, or "5m", "1h"; negative: for good.',
  }),
);
