import Type, { type Static } from "typebox";
import { Maybe, Schema } from "./schema.js";

/** The parked conversations of one model. */
export const ParkedConversations = Schema(
  Type.Object(
    {
      model: Type.String(),
      slots: Type.Integer({ description: "Slots whose conversation is parked." }),
      tokens: Type.Integer(),
      bytes: Type.Integer(),
      parked_secs_ago: Type.Number(),
    },
    { $id: "ParkedConversations" },
  ),
);
export type ParkedConversations = Static<typeof ParkedConversations>;

/** A model whose conversations are not parked. */
export const NotParked = Schema(
  Type.Object(
    { model: Type.String(), reason: Type.String({ description: "For people." }) },
    { $id: "NotParked" },
  ),
);
export type NotParked = Static<typeof NotParked>;

/** KV parking: `GET` and `POST /v1/memory/kv-park`, and `kv_park` of the memory status. */
export const KvPark = Schema(
  Type.Object(
    {
      enabled: Type.Boolean(),
      max_bytes: Type.Integer({ description: "Most that parked conversations may take." }),
      used_bytes: Type.Integer({ description: "What they take now." }),
      models: Type.Array(ParkedConversations, { description: "The oldest first." }),
      not_parked: Type.Array(NotParked, {
        description: "Models whose conversations cannot be parked, and why.",
      }),
    },
    { $id: "KvPark" },
  ),
);
export type KvPark = Static<typeof KvPark>;

/** `POST /v1/memory/kv-park`; either field may be left out, not both. */
export const KvParkChange = Schema(
  Type.Object(
    {
      enabled: Maybe(Type.Boolean({ description: "Turning it off drops what is parked." })),
      max_bytes: Maybe(
        Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "A lower bound drops the oldest until the rest fits.",
        }),
      ),
    },
    { $id: "KvParkChange" },
  ),
);
export type KvParkChange = Static<typeof KvParkChange>;
