import Type, { type Static } from "typebox";
import { Maybe, OneOf, Schema } from "./schema.js";
import { Telemetry } from "./telemetry.js";

/** Most inputs of one request, and most documents to rank. */
export const MAX_INPUTS = 2048;

/** Ids of a vocabulary. */
export const TokenIds = Schema(Type.Array(Type.Integer({ minimum: 0, maximum: 2147483647 })));

const ModelName = Maybe(
  Type.String({ minLength: 1, description: "The id of a model of the pool." }),
);
const KeepAlive = Maybe(
  Type.Union([Type.Number(), Type.String()], {
    description:
      'How long the model stays loaded after this request: seconds, or "5m", "1h"; negative: for good.',
  }),
);

/** `POST /v1/embeddings`. Unknown fields are allowed and ignored. */
export const EmbeddingsRequest = Schema(
  Type.Object(
    {
      model: ModelName,
      input: Type.Union(
        [Type.String(), Type.Array(Type.String()), TokenIds, Type.Array(TokenIds)],
        {
          description: `A text, texts, the token ids of a text or of texts; at most ${MAX_INPUTS}.`,
        },
      ),
      encoding_format: Maybe(
        OneOf(["float", "base64"], {
          description: "base64: the numbers as little-endian 32-bit floats.",
        }),
      ),
      dimensions: Maybe(
        Type.Integer({
          minimum: 1,
          description: "Length of the vectors; other than the model's own only where it allows it.",
        }),
      ),
      truncate: Maybe(
        Type.Boolean({
          description: "Whether an input that is too long is cut at its end, rather than refused.",
        }),
      ),
      keep_alive: KeepAlive,
      user: Maybe(Type.String()),
    },
    { $id: "EmbeddingsRequest" },
  ),
);
export type EmbeddingsRequest = Static<typeof EmbeddingsRequest>;

/** Tokens of a request without an answer in tokens. */
export const InputUsage = Schema(
  Type.Object(
    { prompt_tokens: Type.Integer(), total_tokens: Type.Integer() },
    { $id: "InputUsage" },
  ),
);
export type InputUsage = Static<typeof InputUsage>;

/** The vectors of the inputs, in their order. */
export const EmbeddingsResponse = Schema(
  Type.Object(
    {
      object: Type.Literal("list"),
      model: Type.String(),
      data: Type.Array(
        Type.Object({
          object: Type.Literal("embedding"),
          index: Type.Integer(),
          embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
        }),
      ),
      usage: InputUsage,
      hypnos_telemetry: Telemetry,
    },
    { $id: "EmbeddingsResponse" },
  ),
);
export type EmbeddingsResponse = Static<typeof EmbeddingsResponse>;

/** `POST /v1/rerank`. Unknown fields are allowed and ignored. */
export const RerankRequest = Schema(
  Type.Object(
    {
      model: ModelName,
      query: Type.String(),
      documents: Type.Array(Type.Union([Type.String(), Type.Object({ text: Type.String() })]), {
        description: `Texts, at most ${MAX_INPUTS}.`,
      }),
      top_n: Maybe(
        Type.Integer({ minimum: 1, description: "How many of the best are told; all without it." }),
      ),
      return_documents: Maybe(Type.Boolean({ description: "Whether results repeat their texts." })),
      keep_alive: KeepAlive,
    },
    { $id: "RerankRequest" },
  ),
);
export type RerankRequest = Static<typeof RerankRequest>;

/** Documents by how well they fit the query, the best first. */
export const RerankResponse = Schema(
  Type.Object(
    {
      object: Type.Literal("list"),
      model: Type.String(),
      results: Type.Array(
        Type.Object({
          index: Type.Integer({ description: "Of the document in the request." }),
          relevance_score: Type.Number({ description: "From 0 to 1." }),
          document: Type.Optional(Type.Object({ text: Type.String() })),
        }),
      ),
      usage: InputUsage,
      hypnos_telemetry: Telemetry,
    },
    { $id: "RerankResponse" },
  ),
);
export type RerankResponse = Static<typeof RerankResponse>;
