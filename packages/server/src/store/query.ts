import type { SqlValue } from "./table.js";

/** A question to the store with the reading of its answer. Made by the functions of `queries/` only. */
export interface Query<R> {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  read(rows: readonly (readonly SqlValue[])[]): R;
}
