import Type, { type Static } from "typebox";
import { Schema } from "./schema.js";

/** `GET /` for programs. */
export const Root = Schema(
  Type.Object(
    {
      name: Type.String(),
      version: Type.String(),
      doors: Type.Array(Type.Object({ name: Type.String(), url: Type.String() })),
      links: Type.Record(Type.String(), Type.String()),
    },
    { $id: "Root" },
  ),
);
export type Root = Static<typeof Root>;

/** `GET /health`: that the process answers, nothing more. */
export const Health = Schema(
  Type.Object(
    {
      status: Type.Literal("ok"),
      service: Type.Literal("hypnos"),
      version: Type.String(),
      uptime_secs: Type.Integer(),
      ok: Type.Literal(true),
      server: Type.Literal("local-llm-server"),
      default_model: Type.Union([Type.String(), Type.Null()]),
      loaded_models: Type.Array(Type.String()),
      admin_api_enabled: Type.Boolean(),
      endpoints: Type.Array(Type.String()),
    },
    { $id: "Health" },
  ),
);
export type Health = Static<typeof Health>;

/** `GET /ready`: 200 with `ready: true`, otherwise 503 with what is still going on. */
export const Ready = Schema(
  Type.Object(
    {
      ready: Type.Boolean(),
      reason: Type.Optional(Type.String()),
      phase: Type.Optional(Type.String({ description: "The staging step that runs or failed." })),
      percent: Type.Optional(
        Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
          description: "How much of the step is done; null when it cannot be told.",
        }),
      ),
      eta_secs: Type.Optional(
        Type.Union([Type.Number(), Type.Null()], {
          description: "Seconds left; null when unknown.",
        }),
      ),
      failed: Type.Optional(Type.Boolean({ description: "Whether the step failed; see hint." })),
      hint: Type.Optional(Type.String({ description: "What to do about a failure." })),
    },
    { $id: "Ready" },
  ),
);
export type Ready = Static<typeof Ready>;
