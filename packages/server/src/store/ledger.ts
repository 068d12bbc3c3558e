import { SomnusError } from "../http/errors.js";
import type { Connection } from "./connection.js";
import { openFile, openForReading, openMemory } from "./file.js";
import type { SqlValue } from "./table.js";
import { TABLES, type TableName } from "./tables.js";
import { troubleOf, wordsOf } from "./trouble.js";
import type { Take, Taken, WriteGroup, WriteReport } from "./writes.js";

/** Rows of a table that memory holds at the most: it stands in for the file, it does not replace it. */
const IN_MEMORY_ROWS = 20_000;
/** Rows that wait for the file while memory stands in for it; the oldest beyond that stay in memory only. */
const UNSAVED_ROWS = 20_000;
const UNSAVED_BYTES = 32 * 2 ** 20;
/** How often rows past their time are looked for. Milliseconds. */
const DROP_EVERY_MS = 3_600_000;

/** Where rows are kept now, and why not in the file. */
export interface LedgerStatus {
  readonly kept: "file" | "memory";
  /** Why memory stands in for the file; null when the file is in use or none was wanted. */
  readonly reason: string | null;
  /** Rows in memory that will go to the file once it can be written again. */
  readonly unsavedRows: number;
  /** Rows that went to memory and were then too many to be kept for the file. */
  readonly unsavedLost: number;
  /** Where a damaged file was put since the start. */
  readonly setAside: string | null;
}

/** Tells something for the log. */
export type Tell = (
  level: "info" | "warn",
  fields: Record<string, unknown>,
  message: string,
) => void;

/**
 * Keeps rows in a file, and in memory while the file cannot be written. Synchronous: it blocks its
 * thread for as long as the disk takes.
 */
export class Ledger {
  readonly #path: string | null;
  readonly #tell: Tell;
  #connection: Connection;
  #kept: "file" | "memory" = "memory";
  #reason: string | null = null;
  #setAside: string | null = null;
  #unsaved: WriteGroup[] = [];
  #unsavedRows = 0;
  #unsavedBytes = 0;
  #unsavedLost = 0;
  #droppedAt = Number.NEGATIVE_INFINITY;

  /**
   * Opens the file at `path`, or memory for null or when the file cannot be had.
   *
   * @throws SomnusError `conflict` when a newer program made the file.
   */
  constructor(path: string | null, tell: Tell) {
    this.#path = path;
    this.#tell = tell;
    if (path === null) {
      this.#connection = openMemory();
      return;
    }
    try {
      this.#connection = this.#openFile(path, false);
      this.#kept = "file";
    } catch (error) {
      if (error instanceof SomnusError) throw error;
      this.#connection = this.#standIn(path, openForReading(path), error);
    }
  }

  get status(): LedgerStatus {
    return {
      kept: this.#kept,
      reason: this.#reason,
      unsavedRows: this.#unsavedRows,
      unsavedLost: this.#unsavedLost,
      setAside: this.#setAside,
    };
  }

  /** Writes groups of rows; a file that fails is not the caller's problem, one that is busy is. */
  write(groups: readonly WriteGroup[]): WriteReport {
    try {
      const report = this.#withFile((connection) => connection.write(groups));
      if (this.#standsIn) for (const group of groups) this.#keepForFile(group);
      return report;
    } catch (error) {
      if (troubleOf(error) !== "busy") throw error;
      return { busy: true, written: 0, refused: 0, why: wordsOf(error) };
    }
  }

  /** @throws what SQLite says when another process holds the file for too long. */
  take(takes: readonly Take[]): Taken[] {
    const { taken, changes } = this.#withFile((connection) => connection.take(takes));
    if (this.#standsIn && changes.rows > 0) this.#keepForFile(changes);
    return taken;
  }

  /** The rows of a query, each its values in order. */
  all(sql: string, values: readonly SqlValue[]): SqlValue[][] {
    return this.#withFile((connection) => connection.all(sql, values));
  }

  /** To be called every minute or so: tries a failed file again, removes rows that are past their time. */
  tend(now: number): void {
    if (this.#standsIn) this.#tryFile();
    if (this.#kept === "file" && now - this.#droppedAt < DROP_EVERY_MS) return;
    this.#droppedAt = now;
    const most = this.#kept === "file" ? Number.POSITIVE_INFINITY : IN_MEMORY_ROWS;
    try {
      this.#withFile((connection) => {
        if (connection.dropOld(now, most) > 0) connection.exec("PRAGMA incremental_vacuum(2000)");
      });
    } catch (error) {
      if (troubleOf(error) !== "busy") throw error;
    }
  }

  close(): void {
    if (this.#standsIn && this.#unsaved.length > 0) this.#tryFile();
    if (this.#unsavedRows > 0) {
      const fields = { file: this.#path, rows: this.#unsavedRows, reason: this.#reason };
      this.#tell(
        "warn",
        fields,
        "Rows of the store are lost: its file could not be written to the end.",
      );
    }
    this.#connection.close();
  }

  get #onFile(): boolean {
    return this.#kept === "file";
  }

  get #standsIn(): boolean {
    return this.#path !== null && this.#kept === "memory";
  }

  /** Does something with the database; where the file turns out to be unusable, with what takes its place. */
  #withFile<T>(work: (connection: Connection) => T): T {
    const path = this.#path;
    if (path === null || !this.#onFile) return work(this.#connection);
    if (!this.#connection.inPlace) this.#reopen(path, "the file was moved or removed", false);
    // Twice: a new file in a damaged one's place may fail in its turn, and then memory takes over.
    for (let repairs = 0; repairs < 2 && this.#onFile; repairs += 1) {
      try {
        return work(this.#connection);
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === "damaged") this.#reopen(path, wordsOf(error), this.#connection.inPlace);
        else if (trouble === "storage") this.#retreat(path, error);
        else throw error;
      }
    }
    return work(this.#connection);
  }

  #openFile(path: string, damaged: boolean): Connection {
    const { connection, setAside } = openFile(path, damaged);
    if (setAside !== null) {
      this.#setAside = setAside;
      const message = "The store's file is damaged; it was put aside and a new one begun.";
      this.#tell("warn", { file: path, put_aside: setAside }, message);
    }
    return connection;
  }

  #reopen(path: string, reason: string, damaged: boolean): void {
    this.#connection.close();
    try {
      this.#connection = this.#openFile(path, damaged);
    } catch (error) {
      this.#connection = this.#standIn(path, null, error);
      return;
    }
    this.#tell("warn", { file: path, reason }, "The store's file was opened anew.");
  }

  #retreat(path: string, why: unknown): void {
    const failed = this.#connection;
    this.#connection = this.#standIn(path, failed, why);
  }

  /** Memory in the file's place, with the newest rows that the file still gives; closes the file. */
  #standIn(path: string, file: Connection | null, why: unknown): Connection {
    this.#kept = "memory";
    this.#reason = wordsOf(why);
    const memory = openMemory();
    if (file !== null) {
      copyNewest(file, memory);
      file.close();
    }
    const message =
      "The store's file cannot be written; rows are kept in memory until it can. Free space, or make its folder writable.";
    this.#tell("warn", { file: path, reason: this.#reason }, message);
    return memory;
  }

  #keepForFile(group: WriteGroup): void {
    this.#unsaved.push(group);
    this.#unsavedRows += group.rows;
    this.#unsavedBytes += group.bytes;
    while (this.#unsavedRows > UNSAVED_ROWS || this.#unsavedBytes > UNSAVED_BYTES) {
      const oldest = this.#unsaved.shift();
      if (oldest === undefined) return;
      this.#unsavedRows -= oldest.rows;
      this.#unsavedBytes -= oldest.bytes;
      this.#unsavedLost += oldest.rows;
    }
  }

  #tryFile(): void {
    const path = this.#path;
    if (path === null) return;
    let file: Connection | null = null;
    try {
      file = this.#openFile(path, false);
      file.write(this.#unsaved);
    } catch (error) {
      file?.close();
      this.#reason = wordsOf(error);
      return;
    }
    this.#connection.close();
    this.#connection = file;
    this.#kept = "file";
    this.#reason = null;
    const fields = { file: path, rows: this.#unsavedRows };
    this.#unsaved = [];
    this.#unsavedRows = 0;
    this.#unsavedBytes = 0;
    this.#tell("info", fields, "The store's file is written again.");
  }
}

/** Copies what can be read; a table that cannot stays empty. */
function copyNewest(from: Connection, to: Connection): void {
  for (const table of Object.keys(TABLES) as TableName[]) {
    try {
      const rows = from.newest(table, IN_MEMORY_ROWS);
      // Oldest first, so that a log keeps its order.
      to.write([{ writes: [{ table, rows: rows.reverse() }], rows: rows.length, bytes: 0 }]);
    } catch {
      // The status says that memory stands in for the file.
    }
  }
}
