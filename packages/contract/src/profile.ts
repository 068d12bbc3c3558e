import Type, { type Static } from "typebox";
import { OneOf, Schema } from "./schema.js";

/** The kind of work that the server is set up for, and what it aims at. */
export const Profile = Schema(
  Type.Object(
    {
      name: OneOf(["voice_assistant", "chat", "batch"]),
      objective: Type.Object({
        metric: OneOf(["first_token", "first_audio", "throughput"]),
        target_ms: Type.Optional(Type.Integer({ description: "Absent for throughput." })),
      }),
    },
    { $id: "Profile" },
  ),
);
export type Profile = Static<typeof Profile>;
