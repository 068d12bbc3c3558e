import { SomnusError } from "../http/errors.js";
import type { Backend } from "./backend.js";
import { type BufferLimits, WriteBuffer } from "./buffer.js";
import { startInside } from "./inside-backend.js";
import type { Tell } from "./ledger.js";
import type { Query } from "./query.js";
import type { SqlValue } from "./table.js";
import {
  type KeyedTableName,
  type LogTableName,
  type Row,
  TABLES,
  type TableName,
} from "./tables.js";
import { startThread } from "./thread-backend.js";
import { wordsOf } from "./trouble.js";
import { encodeRow, sizeOf, UnfitRow } from "./values.js";
import type { Counter, TableWrite, Take, Taken, WriteGroup } from "./writes.js";

/** A row that waited as long as this is written; with the time of writing that is under a second. Milliseconds. */
const WRITE_AFTER_MS = 500;
/** As many waiting rows are written at once, and go in one transaction. */
const ROWS_AT_ONCE = 1_000;
/** Rows of one call that stay together; a long call must not make a long transaction. */
const ROWS_TOGETHER = 50;
/** Takes that go in one transaction. */
const TAKES_AT_ONCE = 100;
const TEND_EVERY_MS = 60_000;
const LOSS_TOLD_EVERY_MS = 60_000;
/** Tries to write what is left when the store is flushed while another process holds the file. */
const BUSY_TRIES = 3;
const WAITING: BufferLimits = { rows: 20_000, bytes: 32 * 2 ** 20 };

/** What the store needs of a log; the server's log fits. */
export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where the rows are to be kept, and further things that tests set. */
export type StoreOptions = ({ readonly file: string } | { readonly memory: true }) & {
  readonly log: StoreLog;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The most that waits to be written. */
  readonly waiting?: BufferLimits;
  readonly tendEveryMs?: number;
};

/** Rows for one table, as part of what is written as a whole. */
export type Write = {
  [T in TableName]: { readonly table: T; readonly rows: readonly Row<T>[] };
}[Exclude<TableName, "counters">];

/** How the store is. Counts are of rows since it was opened. */
export interface StoreStatus {
  readonly kept: "file" | "memory";
  /** The file that was asked for; null when rows were to be kept in memory only. */
  readonly file: string | null;
  /** Why memory stands in for the file; null when it does not. */
  readonly reason: string | null;
  /** Where a damaged file was put; null when none was met. */
  readonly setAside: string | null;
  readonly written: number;
  /** Waiting to be written. */
  readonly waiting: number;
  /** In memory, to be written to the file when it can be again. */
  readonly unsaved: number;
  /** Lost because too many were waiting, by table. */
  readonly dropped: Readonly<Partial<Record<TableName, number>>>;
  /** Lost because memory stood in for the file too long: they never get there. */
  readonly unsavedLost: number;
  /** Refused because they do not fit their table: a fault of the program, told in the log. */
  readonly refused: number;
}

/**
 * The state that outlives the process. Writing returns at once and never throws: rows wait in
 * memory and are written at most a second later, in one transaction. What the disk does to them is
 * in the status and in the log.
 */
export interface Store {
  /** Adds rows to a log. */
  append<T extends LogTableName>(table: T, rows: readonly Row<T>[]): void;
  /** Adds rows to a table with a key; a row whose key is there replaces or adds, column by column. */
  upsert<T extends KeyedTableName>(table: T, rows: readonly Row<T>[]): void;
  /** Writes rows of several tables as a whole: after a crash all of them are there or none. */
  together(writes: readonly Write[]): void;
  /**
   * Takes `n` from a counter in one step, also against other processes on the same file. With a
   * limit it is granted while the total stays within it; a negative `n` gives back and is always
   * granted.
   *
   * @throws SomnusError `internal` when another process holds the file for seconds.
   */
  take(counter: Counter, n: number): Promise<Taken>;
  /** Asks a query of this room; rows that were written before are seen. */
  ask<R>(query: Query<R>): Promise<R>;
  status(): StoreStatus;
  /** Resolves when what was written before is in the database; while another process holds the file it gives up after seconds. */
  flush(): Promise<void>;
  /** Flushes and closes; later rows are dropped, and counted. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the store. A file that cannot be written, a damaged one or a thread that does not start
 * does not keep it from opening: see `StoreStatus`.
 *
 * @throws SomnusError `conflict` when the file was written by a newer program.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const tell: Tell = (level, fields, message) => options.log[level](fields, message);
  const file = "file" in options ? options.file : null;
  return new OpenStore(options, file, tell, await start(file, tell));
}

async function start(file: string | null, tell: Tell): Promise<Backend> {
  if (file === null) return startInside(tell, null);
  try {
    return await startThread(file, tell);
  } catch (error) {
    if (error instanceof SomnusError) throw error;
    return insteadOfThread(file, tell, error);
  }
}

function insteadOfThread(file: string, tell: Tell, error: unknown): Promise<Backend> {
  const reason = wordsOf(error);
  const message =
    "The store's thread does not run; rows are kept in memory and are lost when the server ends.";
  tell("warn", { file, reason }, message);
  return startInside(tell, reason);
}

class OpenStore implements Store {
  readonly #log: StoreLog;
  readonly #file: string | null;
  readonly #now: () => number;
  readonly #buffer: WriteBuffer;
  readonly #tending: NodeJS.Timeout;
  #backend: Backend;
  #replacing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #soon = false;
  #draining: Promise<void> | null = null;
  #takes: { take: Take; resolve(taken: Taken): void; reject(error: Error): void }[] = [];
  #taking = false;
  #closed: Promise<void> | null = null;
  #written = 0;
  #refused = 0;
  #dropped: Partial<Record<TableName, number>> = {};
  #lossToldAt = Number.NEGATIVE_INFINITY;

  constructor(options: StoreOptions, file: string | null, tell: Tell, backend: Backend) {
    this.#log = options.log;
    this.#file = file;
    this.#now = options.now ?? Date.now;
    this.#buffer = new WriteBuffer(options.waiting ?? WAITING);
    this.#backend = backend;
    void backend.gone.then((error) => {
      this.#replacing = this.#replace(error, tell);
    });
    this.#tending = setInterval(() => this.#tend(), options.tendEveryMs ?? TEND_EVERY_MS);
    this.#tending.unref();
    this.#tend();
  }

  append<T extends LogTableName>(table: T, rows: readonly Row<T>[]): void {
    this.#writeInSteps(table, rows);
  }

  upsert<T extends KeyedTableName>(table: T, rows: readonly Row<T>[]): void {
    this.#writeInSteps(table, rows);
  }

  together(writes: readonly Write[]): void {
    this.#add(writes);
  }

  take(counter: Counter, n: number): Promise<Taken> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) {
        reject(new SomnusError("shutting_down", "The server is shutting down."));
        return;
      }
      if (!Number.isFinite(n)) {
        reject(new SomnusError("internal", `A counter cannot take ${n}.`));
        return;
      }
      this.#takes.push({ take: { counter, n }, resolve, reject });
      if (!this.#taking) void this.#takeAll();
    });
  }

  async ask<R>(query: Query<R>): Promise<R> {
    if (this.#closed === null && this.#buffer.rows > 0) await this.flush();
    return query.read(await this.#backend.all(query.sql, query.values));
  }

  status(): StoreStatus {
    const { kept, reason, setAside, unsavedRows, unsavedLost } = this.#backend.status;
    return {
      kept,
      file: this.#file,
      reason,
      setAside,
      written: this.#written,
      waiting: this.#buffer.rows,
      unsaved: unsavedRows,
      dropped: { ...this.#dropped },
      unsavedLost,
      refused: this.#refused,
    };
  }

  flush(): Promise<void> {
    if (this.#buffer.rows === 0) return this.#draining ?? Promise.resolve();
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#tending);
    // What comes from now on is refused; what came before is written.
    await this.flush();
    await this.flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const group of this.#buffer.take(Number.POSITIVE_INFINITY)) this.#drop(group);
    await this.#backend.close();
  }

  #writeInSteps(table: TableName, rows: readonly Readonly<Record<string, unknown>>[]): void {
    for (let start = 0; start < rows.length; start += ROWS_TOGETHER) {
      this.#add([{ table, rows: rows.slice(start, start + ROWS_TOGETHER) }]);
    }
  }

  #add(
    writes: readonly { table: TableName; rows: readonly Readonly<Record<string, unknown>>[] }[],
  ): void {
    const group = this.#encode(writes);
    if (group === null || group.rows === 0) return;
    if (this.#closed !== null || !this.#buffer.add(group)) {
      this.#drop(group);
      return;
    }
    this.#writeLater(this.#buffer.rows >= ROWS_AT_ONCE);
  }

  #encode(
    writes: readonly { table: TableName; rows: readonly Readonly<Record<string, unknown>>[] }[],
  ): WriteGroup | null {
    let [count, bytes] = [0, 0];
    const encoded: TableWrite[] = [];
    for (const { table, rows } of writes) {
      const values: SqlValue[][] = [];
      for (const row of rows) {
        try {
          values.push(encodeRow(TABLES[table], row));
        } catch (error) {
          if (!(error instanceof UnfitRow)) throw error;
          this.#refuse(rows.length, `${table}: ${error.message}`);
          return null;
        }
      }
      count += values.length;
      bytes += values.reduce((sum, row) => sum + sizeOf(row), 0);
      encoded.push({ table, rows: values });
    }
    return { writes: encoded, rows: count, bytes };
  }

  /** Sees to it that what waits is written, in a while or `soon`, never on the caller's path. */
  #writeLater(soon: boolean): void {
    if (this.#draining !== null || this.#soon || (this.#timer !== null && !soon)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#soon = soon;
    const write = () => {
      this.#timer = null;
      this.#soon = false;
      void this.flush();
    };
    if (soon) setImmediate(write);
    else this.#timer = setTimeout(write, WRITE_AFTER_MS).unref();
  }

  /** Writes until nothing waits, or another process has held the file for too long. */
  async #drain(): Promise<void> {
    let tries = 0;
    while (this.#buffer.rows > 0 && tries < BUSY_TRIES) {
      const groups = this.#buffer.take(ROWS_AT_ONCE);
      const backend = this.#backend;
      try {
        const report = await backend.write(groups);
        if (report.busy) {
          this.#buffer.putBack(groups);
          tries += 1;
          continue;
        }
        this.#written += report.written;
        if (report.refused > 0) this.#refuse(report.refused, report.why ?? "");
      } catch (error) {
        this.#log.error({ reason: wordsOf(error) }, "The store could not be written.");
        // A thread that has gone is replaced by memory; nothing else throws.
        this.#buffer.putBack(groups);
        tries += 1;
        // The end of a thread is heard a moment after its last answer fails.
        await new Promise((resolve) => setImmediate(resolve));
        await this.#replacing;
      }
    }
    this.#draining = null;
    if (this.#buffer.rows > 0 && this.#closed === null) this.#writeLater(false);
  }

  /** Takes go to the database together: those that come while others are there make the next lot. */
  async #takeAll(): Promise<void> {
    this.#taking = true;
    await Promise.resolve();
    while (this.#takes.length > 0) {
      const lot = this.#takes.splice(0, TAKES_AT_ONCE);
      try {
        const taken = await this.#backend.take(lot.map(({ take }) => take));
        for (const [index, { resolve }] of lot.entries()) resolve(taken[index] as Taken);
      } catch (error) {
        const failure = new SomnusError("internal", "A counter of the store could not be read.", {
          cause: error,
        });
        for (const { reject } of lot) reject(failure);
      }
    }
    this.#taking = false;
  }

  async #replace(error: Error, tell: Tell): Promise<void> {
    try {
      this.#backend = await insteadOfThread(this.#file ?? "", tell, error);
    } catch (failure) {
      this.#log.error({ reason: wordsOf(failure) }, "The store keeps nothing any more.");
    }
  }

  #tend(): void {
    this.#backend.tend(this.#now()).catch((error: unknown) => {
      this.#log.error({ reason: wordsOf(error) }, "The store could not be looked after.");
    });
  }

  #refuse(rows: number, why: string): void {
    this.#refused += rows;
    this.#log.error({ rows, reason: why }, "Rows do not fit their table in the store.");
  }

  #drop(group: WriteGroup): void {
    for (const { table, rows } of group.writes) {
      this.#dropped[table] = (this.#dropped[table] ?? 0) + rows.length;
    }
    const now = this.#now();
    if (now - this.#lossToldAt < LOSS_TOLD_EVERY_MS) return;
    this.#lossToldAt = now;
    const fields = { dropped: { ...this.#dropped }, waiting: this.#buffer.rows };
    this.#log.warn(fields, "Rows of the store are dropped: more come than can be written.");
  }
}
