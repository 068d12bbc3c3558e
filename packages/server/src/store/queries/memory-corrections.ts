import { columnList } from "../statements.js";
import type { Store } from "../store.js";
import { type Row, TABLES } from "../tables.js";
import { decodeRow } from "../values.js";

/** What a load was estimated to take and what it took. */
export type Correction = Omit<Row<"memory_corrections">, "loads">;
/** The latest measurement with its settings, and how many there were. */
export type KeptCorrection = Row<"memory_corrections">;

/** Keeps a measurement; an earlier one of the same weights, build and settings is replaced. */
export function saveCorrection(store: Store, correction: Correction): void {
  store.upsert("memory_corrections", [{ ...correction, loads: 1 }]);
}

/**
 * What was measured of these weights with whatever settings and build: those of this build first,
 * then the newest, so that the nearest can be chosen where none has exactly these settings.
 */
export function correctionsFor(
  store: Store,
  modelDigest: string,
  engineBuild: string,
): Promise<KeptCorrection[]> {
  const table = TABLES.memory_corrections;
  return store.ask({
    sql: `SELECT ${columnList(table)} FROM memory_corrections WHERE modelDigest = ? ORDER BY engineBuild = ? DESC, at DESC`,
    values: [modelDigest, engineBuild],
    read: (rows) => rows.map((row) => decodeRow(table, row) as unknown as KeptCorrection),
  });
}

/** What was measured lately, whatever the weights: at most `most` rows, the newest first. */
export function latestCorrections(
  store: Pick<Store, "ask">,
  most: number,
): Promise<KeptCorrection[]> {
  const table = TABLES.memory_corrections;
  return store.ask({
    sql: `SELECT ${columnList(table)} FROM memory_corrections ORDER BY at DESC LIMIT ?`,
    values: [most],
    read: (rows) => rows.map((row) => decodeRow(table, row) as unknown as KeptCorrection),
  });
}
