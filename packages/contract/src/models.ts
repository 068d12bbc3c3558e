import Type, { type Static } from "typebox";
import { OneOf, Schema } from "./schema.js";
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

/** Where the experts of a Mixture-of-Experts model run. */
export const MOE_OFFLOAD_MODES = ["off", "auto", "on"] as const;

/** `POST /v1/models/{id}/moe-offload` */
export const MoeOffload = Schema(
  Type.Object(
    {
      mode: Type.String({
        description:
          "off: the experts follow their layer. auto: where the model does not fit the device whole, the experts " +
          "of as few layers as needed move to the processor before any layer does. on: all experts run on the processor.",
        examples: [...MOE_OFFLOAD_MODES],
      }),
    },
    { $id: "MoeOffload" },
  ),
);
export type MoeOffload = Static<typeof MoeOffload>;

/** What was set, and from when on it is so. */
export const MoeOffloadSet = Schema(
  Type.Object(
    {
      model: Type.String(),
      moe_offload: OneOf(MOE_OFFLOAD_MODES),
      applies: OneOf(["now", "next_load"], {
        description:
          "now: the next request loads it so; next_load: it is busy, and stays as it is.",
      }),
      placement: Placement,
    },
    { $id: "MoeOffloadSet" },
  ),
);
export type MoeOffloadSet = Static<typeof MoeOffloadSet>;
