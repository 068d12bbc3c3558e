import Type, { type Static } from "typebox";
import { Schema } from "./schema.js";
import { MemoryTier, Modality, Placement } from "./tiers.js";

/** One row of the model list. */
export const Model = Schema(
  Type.Object(
    {
      id: Type.String(),
      object: Type.Literal("model"),
      created: Type.Integer({ description: "When the model joined the pool, Unix seconds." }),
      owned_by: Type.String(),
      modality: Modality,
      current_tier: MemoryTier,
      placement: Placement,
      active_leases: Type.Integer({ description: "Requests running on the model now." }),
      resident: Type.Boolean({ description: "Whether the model is loaded." }),
      key: Type.String(),
      backend: Type.String({ description: "The kind of engine that runs it." }),
      default: Type.Boolean({ description: "Whether requests without a model go here." }),
    },
    { $id: "Model" },
  ),
);
export type Model = Static<typeof Model>;

/** `GET /v1/models` */
export const ModelList = Schema(
  Type.Object({ object: Type.Literal("list"), data: Type.Array(Model) }, { $id: "ModelList" }),
);
export type ModelList = Static<typeof ModelList>;
