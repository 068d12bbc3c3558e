import { statSync } from "node:fs";
import Libsql from "libsql";
import {
  countStatement,
  dropOlderStatement,
  dropOldestStatement,
  newestStatement,
  writeStatement,
} from "./statements.js";
import type { SqlValue } from "./table.js";
import { TABLES, type TableName } from "./tables.js";
import { troubleOf, wordsOf } from "./trouble.js";
import type { TableWrite, Take, Taken, WriteGroup, WriteReport } from "./writes.js";

/** How long a write waits for another process to finish its own; no process writes for longer. */
const BUSY_MS = 2_000;
/** The same for folding the log into the file at the end, which can be left undone. */
const CLOSING_BUSY_MS = 200;
/** Rows that go in one transaction when old ones are removed. */
const DROPPED_AT_ONCE = 2_000;
const DAY_MS = 86_400_000;

/**
 * A connection to one database, a file or memory. Everything here is synchronous, blocks its
 * thread, and throws what libsql throws.
 *
 * On durability: the log (WAL) is handed to the system at each commit and synced to the disk when
 * it is folded into the file (`synchronous = NORMAL`). A process that dies loses nothing that was
 * committed. A power cut can lose the last commits, as far as the system had not written them yet;
 * it never leaves half a transaction.
 */
export class Connection {
  readonly #db: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  /** The file as it was opened; null for memory. */
  readonly #opened: { readonly path: string; readonly inode: bigint } | null;

  /** Opens a file, which is made when it is missing, or memory for null. */
  constructor(path: string | null) {
    this.#db = new Libsql(path ?? ":memory:");
    this.#opened = path === null ? null : { path, inode: inodeOf(path) ?? 0n };
    try {
      this.#db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the path still names the file that was opened. */
  get inPlace(): boolean {
    return this.#opened === null || inodeOf(this.#opened.path) === this.#opened.inode;
  }

  /** Runs statements without values. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** The rows of a query, each its values in order. */
  all(sql: string, values: readonly SqlValue[] = []): SqlValue[][] {
    return this.#statement(sql).raw().all(values) as unknown as SqlValue[][];
  }

  /** The first value of a query's first row; null without one. */
  value(sql: string, values: readonly SqlValue[] = []): SqlValue {
    return this.all(sql, values)[0]?.[0] ?? null;
  }

  /**
   * What `work` does is done as a whole or not at all. Every write goes through here: a prepared
   * statement that has to wait for another process and fails stays begun in libsql, and with what
   * it has read so far no later write of this connection succeeds.
   */
  transaction<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // A full disk ends the transaction by itself.
      if (this.#db.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  /** Throws when a table is missing or has other columns than declared. */
  checkTables(): void {
    for (const [name, table] of Object.entries(TABLES)) {
      this.#statement(writeStatement(name, table));
      this.#statement(newestStatement(name, table));
    }
  }

  /** Writes a page that changes nothing: throws when the file cannot be written. */
  checkWritable(version: number): void {
    this.transaction(() => this.exec(`PRAGMA user_version = ${version}`));
  }

  /** Writes all groups in one transaction; a group that the database refuses is left out, whole. */
  write(groups: readonly WriteGroup[]): WriteReport {
    const rows = groups.reduce((sum, group) => sum + group.rows, 0);
    try {
      this.transaction(() => {
        for (const group of groups) this.#writeAll(group.writes);
      });
      return { busy: false, written: rows, refused: 0, why: null };
    } catch (error) {
      if (troubleOf(error) !== "statement") throw error;
    }
    return this.#writeOneByOne(groups);
  }

  /** Takes from counters, in order, in one transaction; `changes` are the rows that say the same. */
  take(takes: readonly Take[]): { taken: Taken[]; changes: WriteGroup } {
    const rows: SqlValue[][] = [];
    const taken = this.transaction(() =>
      takes.map(({ counter, n }) => {
        const { name, limit, window } = counter;
        const at = [name, window.from, window.until];
        const before = Number(this.value(USED, at) ?? 0);
        // Nothing goes below zero: what is given back twice is given back once.
        const change = Math.max(n, -before);
        const granted = limit === null || n <= 0 || before + n <= limit;
        if (granted && change !== 0) {
          rows.push([...at, change]);
          this.#writeAll([{ table: "counters", rows: rows.slice(-1) }]);
        }
        const used = granted ? before + change : before;
        return {
          granted,
          used,
          remaining: limit === null ? null : Math.max(0, limit - used),
          resetsAt: window.until,
        };
      }),
    );
    const changes = {
      writes: [{ table: "counters" as const, rows }],
      rows: rows.length,
      bytes: 96 * rows.length,
    };
    return { taken, changes };
  }

  /** The newest rows of a table. */
  newest(table: TableName, most: number): SqlValue[][] {
    return this.all(newestStatement(table, TABLES[table]), [most]);
  }

  /** Removes rows that are past their time or too many, `mostRows` a table at the most; gives how many went. */
  dropOld(now: number, mostRows: number): number {
    let dropped = 0;
    for (const [name, table] of Object.entries(TABLES)) {
      const before = now - table.keep.days * DAY_MS;
      dropped += this.#drop(dropOlderStatement(name, table), [before], Number.POSITIVE_INFINITY);
      const excess = Number(this.value(countStatement(name))) - Math.min(table.keep.rows, mostRows);
      dropped += this.#drop(dropOldestStatement(name, table), [], excess);
    }
    return dropped;
  }

  /** Closes; the log is folded into the file where no other process reads it. Never throws. */
  close(): void {
    this.#statements.clear();
    try {
      this.exec(`PRAGMA busy_timeout = ${CLOSING_BUSY_MS}`);
      if (this.#opened) this.all("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The log stays beside the file and counts at the next opening.
    }
    try {
      this.#db.close();
    } catch {
      // Closed already.
    }
  }

  #writeAll(writes: readonly TableWrite[]): void {
    for (const { table, rows } of writes) {
      const statement = this.#statement(writeStatement(table, TABLES[table]));
      for (const row of rows) statement.run(row);
    }
  }

  /** All in one transaction still: a failure of the disk half way must not leave rows that are written again. */
  #writeOneByOne(groups: readonly WriteGroup[]): WriteReport {
    let [written, refused] = [0, 0];
    let why: string | null = null;
    this.transaction(() => {
      for (const group of groups) {
        this.exec("SAVEPOINT one");
        try {
          this.#writeAll(group.writes);
          written += group.rows;
        } catch (error) {
          if (troubleOf(error) !== "statement") throw error;
          this.exec("ROLLBACK TO one");
          refused += group.rows;
          why ??= wordsOf(error);
        }
        this.exec("RELEASE one");
      }
    });
    return { busy: false, written, refused, why };
  }

  /** Deletes up to `most` rows, a transaction for each few thousand so that other writers get their turn. */
  #drop(sql: string, values: readonly SqlValue[], most: number): number {
    const statement = this.#statement(sql);
    let dropped = 0;
    while (dropped < most) {
      const step = Math.min(DROPPED_AT_ONCE, most - dropped);
      const { changes } = this.transaction(() => statement.run([...values, step]));
      dropped += changes;
      if (changes < step) break;
    }
    return dropped;
  }

  #statement(sql: string): Libsql.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const USED =
  'SELECT "used" FROM "counters" WHERE "name" = ? AND "windowStart" = ? AND "windowEnd" = ?';

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
