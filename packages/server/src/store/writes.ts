import type { SqlValue } from "./table.js";
import type { TableName } from "./tables.js";

/** Rows of one table, encoded. */
export interface TableWrite {
  readonly table: TableName;
  readonly rows: readonly (readonly SqlValue[])[];
}

/** What is written whole or not at all. */
export interface WriteGroup {
  readonly writes: readonly TableWrite[];
  /** Rows in all of them. */
  readonly rows: number;
  /** What it takes in memory, about. */
  readonly bytes: number;
}

/** What became of groups that were to be written. */
export interface WriteReport {
  /** Another process held the file; nothing was written, try again. */
  readonly busy: boolean;
  readonly written: number;
  /** Rows that the database refused one by one, and why the first of them was. */
  readonly refused: number;
  readonly why: string | null;
}

/** A stretch of time that a counter counts over. Milliseconds since 1970; `until` is not part of it. */
export interface CounterWindow {
  readonly from: number;
  readonly until: number;
}

/** What is counted: one total a name and window. */
export interface Counter {
  readonly name: string;
  readonly window: CounterWindow;
  /** The most that may be taken in the window; null counts without a limit. */
  readonly limit: number | null;
}

/** The answer to a take. */
export interface Taken {
  readonly granted: boolean;
  /** The total of the window, this take included when it was granted. */
  readonly used: number;
  /** What may still be taken; null without a limit. */
  readonly remaining: number | null;
  /** When the window ends; milliseconds since 1970. */
  readonly resetsAt: number;
}

export interface Take {
  readonly counter: Counter;
  readonly n: number;
}
