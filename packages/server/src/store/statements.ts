import type { Table } from "./table.js";

const quoted = (name: string) => `"${name}"`;

/** The columns of a table for a SELECT, in the order that `decodeRow` reads. */
export function columnList(table: Table): string {
  return Object.keys(table.columns).map(quoted).join(", ");
}

/** Writes one row, its values in the order of the columns: an insert, or for a keyed table a merge. */
export function writeStatement(name: string, table: Table): string {
  const columns = Object.entries(table.columns);
  const holes = columns.map(() => "?").join(", ");
  const insert = `INSERT INTO ${quoted(name)} (${columnList(table)}) VALUES (${holes})`;
  if (!table.keyed) return insert;
  const changes = columns
    .filter(([column]) => !table.key.includes(column))
    .map(([column, { merge }]) =>
      merge === "add"
        ? `${quoted(column)} = ${quoted(column)} + excluded.${quoted(column)}`
        : `${quoted(column)} = excluded.${quoted(column)}`,
    );
  const then = changes.length === 0 ? "NOTHING" : `UPDATE SET ${changes.join(", ")}`;
  return `${insert} ON CONFLICT (${table.key.map(quoted).join(", ")}) DO ${then}`;
}

/** The newest rows of a table; takes their number. */
export function newestStatement(name: string, table: Table): string {
  const by = quoted(table.keep.by);
  return `SELECT ${columnList(table)} FROM ${quoted(name)} ORDER BY ${by} DESC LIMIT ?`;
}

/** Removes rows older than a time; takes the time and the most rows to remove. */
export function dropOlderStatement(name: string, table: Table): string {
  const by = quoted(table.keep.by);
  return `DELETE FROM ${quoted(name)} WHERE rowid IN (SELECT rowid FROM ${quoted(name)} WHERE ${by} < ? LIMIT ?)`;
}

/** Removes the oldest rows; takes how many. */
export function dropOldestStatement(name: string, table: Table): string {
  const by = quoted(table.keep.by);
  return `DELETE FROM ${quoted(name)} WHERE rowid IN (SELECT rowid FROM ${quoted(name)} ORDER BY ${by} LIMIT ?)`;
}

export function countStatement(name: string): string {
  return `SELECT count(*) FROM ${quoted(name)}`;
}
