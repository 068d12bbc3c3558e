import type { MemoryTier } from "@somnus/contract";
import { integer, json, keyedTable, logTable, orNull, type RowOf, real, text } from "./table.js";

/** Bytes by part: weights, KV memory, workspace, process, as the estimate names them; null was not measured. */
export type BytesByPart = Readonly<Record<string, number | null>>;

/**
 * Every table of the store. `at` is in milliseconds since 1970. A change here needs a migration:
 * a test compares what the migrations make with what is declared.
 */
export const TABLES = {
  /** What a model was estimated to take and what it took, at the last load with these settings. */
  memory_corrections: keyedTable({
    columns: {
      /** SHA-256 of the weights. */
      modelDigest: text(),
      engineBuild: text(),
      /** What the memory depends on besides: context, slots, KV types, placement; spelled by the caller. */
      settings: text(),
      estimated: json<BytesByPart>(),
      measured: json<BytesByPart>(),
      /** Loads that were measured. */
      loads: integer("add"),
      at: integer(),
    },
    key: ["modelDigest", "engineBuild", "settings"],
    indexes: [["at"]],
    keep: { by: "at", days: 365, rows: 20_000 },
  }),

  /** Loads that succeeded. */
  model_loads: logTable({
    columns: {
      model: text(),
      /** Where the weights were before. */
      fromTier: text<MemoryTier>(),
      /** From the decision until the engine was ready. */
      ms: real(),
      /** Bytes of weights that were brought up. */
      bytes: orNull(integer()),
      at: integer(),
    },
    indexes: [["model", "fromTier", "at"], ["at"]],
    keep: { by: "at", days: 90, rows: 20_000 },
  }),

  /** Running averages of a model: how long requests take, how often they come. */
  service_times: keyedTable({
    columns: {
      model: text(),
      /** What was averaged, with its unit: `service_ms`, `prompt_tokens_per_s`, `requests_per_minute`. */
      measure: text(),
      mean: real(),
      deviation: orNull(real()),
      /** How many values the mean rests on. */
      samples: integer(),
      at: integer(),
    },
    key: ["model", "measure"],
    indexes: [["at"]],
    keep: { by: "at", days: 90, rows: 20_000 },
  }),

  /** Responses that are kept to be asked for again; one that was removed stays, empty, until it is cleared away. */
  responses: keyedTable({
    columns: {
      id: text(),
      /** Who may ask for it; empty where no keys are needed. */
      owner: text(),
      /** The response it goes on from. */
      previousId: orNull(text()),
      /** Of what is kept, as JSON. */
      bytes: integer(),
      at: integer(),
      expiresAt: integer(),
      response: json<unknown>(),
      input: json<unknown>(),
    },
    key: ["id"],
    indexes: [["expiresAt"]],
    keep: { by: "expiresAt", days: 0, rows: 200_000 },
  }),

  /** Counters of `take`: one row a counter and window. */
  counters: keyedTable({
    columns: {
      name: text(),
      windowStart: integer(),
      windowEnd: integer(),
      used: real("add"),
    },
    key: ["name", "windowStart", "windowEnd"],
    indexes: [["windowEnd"]],
    keep: { by: "windowEnd", days: 40, rows: 200_000 },
  }),
} as const;

export type Tables = typeof TABLES;
export type TableName = keyof Tables;
/** A row of the table of that name. */
export type Row<T extends TableName> = RowOf<Tables[T]>;
/** Tables that rows are appended to. */
export type LogTableName = {
  [T in TableName]: Tables[T]["keyed"] extends false ? T : never;
}[TableName];
/** Tables with a key, in which a row replaces its like; counters belong to `take`. */
export type KeyedTableName = Exclude<
  { [T in TableName]: Tables[T]["keyed"] extends true ? T : never }[TableName],
  "counters"
>;
