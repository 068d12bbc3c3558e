import { expect, it } from "vitest";
import { openMemory } from "./file.js";
import type { Table } from "./table.js";
import { TABLES } from "./tables.js";

const TYPES = { text: "TEXT", json: "TEXT", integer: "INTEGER", real: "REAL" } as const;

it.each(Object.entries<Table>(TABLES))(
  "the migrations make %s as it is declared",
  (name, table) => {
    const connection = openMemory();
    const columns = connection.all(
      `SELECT name, type, "notnull", pk FROM pragma_table_info('${name}')`,
    );
    const declared = Object.entries(table.columns).map(([column, { type, nullable }]) => [
      column,
      TYPES[type],
      nullable ? 0 : 1,
      table.key.indexOf(column) + 1,
    ]);
    expect(columns).toEqual(table.keyed ? declared : [["id", "INTEGER", 0, 1], ...declared]);

    const indexes = connection
      .all(`SELECT name FROM pragma_index_list('${name}') WHERE origin = 'c' ORDER BY name`)
      .map(([index]) =>
        connection.all(`SELECT name FROM pragma_index_info('${index}') ORDER BY seqno`).flat(),
      );
    expect(indexes.sort()).toEqual(table.indexes.map((index) => [...index]).sort());
    // What goes first when there is too much must be found without reading the table.
    expect(table.indexes.some(([first]) => first === table.keep.by)).toBe(true);
    expect(connection.value(`SELECT strict FROM pragma_table_list('${name}')`)).toBe(1);
    connection.close();
  },
);

it("the migrations make no other table", () => {
  const connection = openMemory();
  const names = connection
    .all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .flat();
  expect(names.sort()).toEqual(Object.keys(TABLES).sort());
  connection.close();
});
