/** What SQLite takes and gives here. */
export type SqlValue = string | number | null;

/** How a column of a keyed table takes in a row whose key is there already. */
export type Merge = "replace" | "add";

/** A column: what it holds in the file, and `V`, what it is in a row. */
export interface Column<V> {
  readonly type: "text" | "integer" | "real" | "json";
  readonly nullable: boolean;
  readonly merge: Merge;
  /** Never set: carries the type of the value. */
  readonly value?: V;
}

type Columns = Readonly<Record<string, Column<unknown>>>;

/** How long rows stay. The oldest by `by` (milliseconds since 1970) go first. */
export interface Retention<Name extends string = string> {
  readonly by: Name;
  readonly days: number;
  readonly rows: number;
}

/** A table. Without a key it is a log that rows are appended to; with one a row replaces its like. */
export interface Table {
  readonly columns: Columns;
  readonly keyed: boolean;
  readonly key: readonly string[];
  readonly indexes: readonly (readonly string[])[];
  readonly keep: Retention;
}

/** A table with the types of its columns. */
export interface Declared<C extends Columns, K extends boolean> extends Table {
  readonly columns: C;
  readonly keyed: K;
}

/** What a declaration says; key, indexes and retention name columns that are there. */
interface Declaration<C extends Columns> {
  readonly columns: C;
  readonly key: readonly (keyof C & string)[];
  readonly indexes: readonly (readonly (keyof C & string)[])[];
  readonly keep: Retention<keyof C & string>;
}

type ValueOf<C> = C extends Column<infer V> ? V : never;

/** A row of a table. */
export type RowOf<T> =
  T extends Declared<infer C, boolean> ? { readonly [Name in keyof C]: ValueOf<C[Name]> } : never;

/** A text; lone surrogates and NUL are replaced. */
export function text<V extends string = string>(): Column<V> {
  return { type: "text", nullable: false, merge: "replace" };
}

/** A whole number that JavaScript holds exactly. */
export function integer(merge: Merge = "replace"): Column<number> {
  return { type: "integer", nullable: false, merge };
}

/** A finite number. */
export function real(merge: Merge = "replace"): Column<number> {
  return { type: "real", nullable: false, merge };
}

/** Anything that JSON holds. */
export function json<V>(): Column<V> {
  return { type: "json", nullable: false, merge: "replace" };
}

/** The column, or null where nothing was measured. */
export function orNull<V>(column: Column<V>): Column<V | null> {
  return { type: column.type, nullable: true, merge: column.merge };
}

/** Declares a table that rows are appended to. */
export function logTable<const C extends Columns>(
  declared: Omit<Declaration<C>, "key">,
): Declared<C, false> {
  return { ...declared, keyed: false, key: [] };
}

/** Declares a table that holds one row a key. */
export function keyedTable<const C extends Columns>(declared: Declaration<C>): Declared<C, true> {
  return { ...declared, keyed: true };
}
