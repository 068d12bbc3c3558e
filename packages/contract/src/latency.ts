import Type, { type Static } from "typebox";
import { Schema } from "./schema.js";

/** Durations of one kind, ms: the percentiles are the upper bounds of the buckets that they fall into. */
export const LatencyRow = Schema(
  Type.Object(
    { count: Type.Integer(), p50: Type.Number(), p95: Type.Number(), p99: Type.Number() },
    { $id: "LatencyRow" },
  ),
);
export type LatencyRow = Static<typeof LatencyRow>;

/** How long requests took from their start to the last byte of the answer, since the server started. */
export const Latency = Schema(
  Type.Object(
    {
      routes: Type.Record(Type.String(), LatencyRow, { description: "By the path of the route." }),
      workflows: Type.Record(Type.String(), LatencyRow, {
        description: "By the name of a declared workflow, from its first request to its last.",
      }),
    },
    { $id: "Latency" },
  ),
);
export type Latency = Static<typeof Latency>;
