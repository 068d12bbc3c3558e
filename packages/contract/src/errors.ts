import Type, { type Static } from "typebox";
import { Schema } from "./schema.js";

/** The error body of the inference door. `param` names the offending field where there is one. */
export const ErrorBody = Schema(
  Type.Object(
    {
      error: Type.Object({
        message: Type.String(),
        type: Type.String(),
        param: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        code: Type.Optional(Type.String()),
      }),
    },
    { $id: "ErrorBody", description: "What went wrong, and for which field." },
  ),
);
export type ErrorBody = Static<typeof ErrorBody>;
