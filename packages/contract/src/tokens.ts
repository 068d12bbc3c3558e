import Type, { type Static } from "typebox";
import { TokenIds } from "./embeddings.js";
import { Maybe, Schema } from "./schema.js";
import { Telemetry } from "./telemetry.js";

const ModelName = Maybe(
  Type.String({ minLength: 1, description: "The id of a model of the pool." }),
);
const Text = Maybe(Type.String());

/** `POST /v1/tokenize`. The text is in `content`; the other two names for it are understood as well. */
export const TokenizeRequest = Schema(
  Type.Object(
    {
      model: ModelName,
      content: Text,
      text: Text,
      input: Text,
      add_special: Maybe(
        Type.Boolean({
          description: "Whether the special tokens that the model has around a text are there too.",
        }),
      ),
    },
    { $id: "TokenizeRequest" },
  ),
);
export type TokenizeRequest = Static<typeof TokenizeRequest>;

/** The tokens of a text. */
export const TokenizeResponse = Schema(
  Type.Object(
    {
      model: Type.String(),
      tokens: TokenIds,
      count: Type.Integer(),
      hypnos_telemetry: Telemetry,
    },
    { $id: "TokenizeResponse" },
  ),
);
export type TokenizeResponse = Static<typeof TokenizeResponse>;

/** `POST /v1/detokenize` */
export const DetokenizeRequest = Schema(
  Type.Object({ model: ModelName, tokens: TokenIds }, { $id: "DetokenizeRequest" }),
);
export type DetokenizeRequest = Static<typeof DetokenizeRequest>;

/** The text of some tokens. */
export const DetokenizeResponse = Schema(
  Type.Object(
    { model: Type.String(), content: Type.String(), hypnos_telemetry: Telemetry },
    { $id: "DetokenizeResponse" },
  ),
);
export type DetokenizeResponse = Static<typeof DetokenizeResponse>;

/** The tokens that a conversation has as a prompt, template included. */
export const InputTokens = Schema(
  Type.Object(
    { model: Type.String(), input_tokens: Type.Integer(), hypnos_telemetry: Telemetry },
    { $id: "InputTokens" },
  ),
);
export type InputTokens = Static<typeof InputTokens>;
