import type { Column, SqlValue, Table } from "./table.js";

/** A row that does not fit its table; `message` names the column. */
export class UnfitRow extends Error {
  override readonly name = "UnfitRow";
}

/**
 * The values of a row in the order of the table's columns, each of a kind that SQLite takes. The
 * check is not a formality: libsql ends the whole process when it is given a boolean.
 *
 * @throws UnfitRow when a value is missing or of another kind than declared.
 */
export function encodeRow(table: Table, row: Readonly<Record<string, unknown>>): SqlValue[] {
  return columnsOf(table).map(([name, column]) => encode(name, column, row[name]));
}

/** A row from values in the order of the table's columns; text that should be JSON and is not becomes null. */
export function decodeRow(table: Table, values: readonly SqlValue[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, [name, column]] of columnsOf(table).entries()) {
    const value = values[index] ?? null;
    row[name] = column.type === "json" && typeof value === "string" ? parse(value) : value;
  }
  return row;
}

/** What a row takes in memory while it waits, about. Bytes. */
export function sizeOf(values: readonly SqlValue[]): number {
  let bytes = 64;
  for (const value of values) bytes += typeof value === "string" ? 24 + 2 * value.length : 16;
  return bytes;
}

const COLUMNS = new WeakMap<Table, [string, Column<unknown>][]>();

function columnsOf(table: Table): [string, Column<unknown>][] {
  let columns = COLUMNS.get(table);
  if (columns === undefined) {
    columns = Object.entries(table.columns);
    COLUMNS.set(table, columns);
  }
  return columns;
}

function encode(name: string, column: Column<unknown>, value: unknown): SqlValue {
  if (value === null && column.nullable) return null;
  switch (column.type) {
    case "text":
      // libsql reads a text up to its first NUL only.
      if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "\ufffd");
      break;
    case "integer":
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case "real":
      if (Number.isFinite(value)) return value as number;
      break;
    case "json": {
      const written = writeJson(value);
      if (written !== undefined) return written.toWellFormed();
      break;
    }
  }
  throw new UnfitRow(`${name} is ${kindOf(value)} where ${column.type} is expected`);
}

function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function parse(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return null;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "number" ? `the number ${value}` : typeof value;
}
