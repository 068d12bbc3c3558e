import { columnList } from "../statements.js";
import type { Store } from "../store.js";
import { type Row, TABLES } from "../tables.js";
import { decodeRow } from "../values.js";

/** A running average of a model, as its owner keeps it in memory. */
export type ServiceTime = Row<"service_times">;

/** Keeps running averages; earlier ones of the same model and measure are replaced. */
export function saveServiceTimes(store: Store, averages: readonly ServiceTime[]): void {
  store.upsert("service_times", averages);
}

/** The averages that were kept, of all models. */
export function serviceTimes(store: Store): Promise<ServiceTime[]> {
  const table = TABLES.service_times;
  return store.ask({
    sql: `SELECT ${columnList(table)} FROM service_times ORDER BY model, measure`,
    values: [],
    read: (rows) => rows.map((row) => decodeRow(table, row) as unknown as ServiceTime),
  });
}
