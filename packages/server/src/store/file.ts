import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { SomnusError } from "../http/errors.js";
import { Connection } from "./connection.js";
import { MIGRATIONS } from "./migrations.js";
import { troubleOf, wordsOf } from "./trouble.js";

/** Files up to this size are read through at the start; damage in larger ones shows when it is met. */
const CHECKED_BYTES = 64 * 2 ** 20;
/** Damaged files that are kept beside the new one. */
const SET_ASIDE_KEPT = 3;
/** What SQLite keeps beside a database. */
const COMPANIONS = ["-wal", "-shm"];

/** An opened database, and where a damaged one was put that stood in its place. */
export interface OpenedFile {
  readonly connection: Connection;
  readonly setAside: string | null;
}

/**
 * Opens the file for writing: makes it when it is missing, brings it to today's tables, and puts a
 * damaged one aside, which never happens to one that is only newer. `damaged` is true for a file
 * that was met damaged in use: a large one is not read through here.
 *
 * @throws SomnusError `conflict` when a newer program made the file; else what the system or
 * SQLite says when the file cannot be had.
 */
export function openFile(path: string, damaged = false): OpenedFile {
  makeFile(path);
  const inode = statSync(path, { bigint: true }).ino;
  if (!damaged) {
    try {
      return { connection: openSound(path), setAside: null };
    } catch (error) {
      if (troubleOf(error) !== "damaged") throw error;
    }
  }
  const setAside = setAsideIfSame(path, inode);
  makeFile(path);
  return { connection: openSound(path), setAside };
}

/** Opens memory with today's tables. */
export function openMemory(): Connection {
  const connection = new Connection(null);
  migrate(connection, "memory");
  return connection;
}

/** Opens a file that cannot be written, to read what it holds; null when not even that can be done. */
export function openForReading(path: string): Connection | null {
  if (!existsSync(path)) return null;
  // SQLite needs its companions even to read, except from a file that it is told never changes.
  for (const name of [path, `${pathToFileURL(path).href}?immutable=1`]) {
    let connection: Connection | null = null;
    try {
      connection = new Connection(name);
      connection.checkTables();
      return connection;
    } catch {
      connection?.close();
    }
  }
  return null;
}

function openSound(path: string): Connection {
  const connection = new Connection(path);
  try {
    // Only a file without tables takes the first one; it lets removed rows give their space back.
    connection.exec("PRAGMA auto_vacuum = INCREMENTAL");
    connection.all("PRAGMA journal_mode = WAL");
    connection.exec("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216");
    refuseNewer(connection, path);
    if (statSync(path).size <= CHECKED_BYTES) {
      const found = connection.value("PRAGMA quick_check(1)");
      if (found !== "ok") throw new Damaged(String(found));
    }
    try {
      migrate(connection, path);
      connection.checkTables();
    } catch (error) {
      // Tables of these names with other columns: nothing of ours can be read or written there.
      if (error instanceof SomnusError || troubleOf(error) !== "statement") throw error;
      throw new Damaged(wordsOf(error));
    }
    connection.checkWritable(MIGRATIONS.length);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Damage that a check found and SQLite did not stumble over. */
class Damaged extends Error {
  /** As SQLite numbers a damaged database. */
  readonly rawCode = 11;
}

function migrate(connection: Connection, path: string): void {
  if (versionOf(connection) === MIGRATIONS.length) return;
  connection.transaction(() => {
    // Another process may have been here meanwhile.
    refuseNewer(connection, path);
    for (const step of MIGRATIONS.slice(versionOf(connection))) connection.exec(step);
    connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function refuseNewer(connection: Connection, path: string): void {
  const version = versionOf(connection);
  if (version <= MIGRATIONS.length) return;
  throw new SomnusError(
    "conflict",
    `${path} was written by a newer Somnus (tables of version ${version}; this one knows ${MIGRATIONS.length}). ` +
      "Start the newer one, or move the file away to begin with an empty one.",
  );
}

function versionOf(connection: Connection): number {
  return Number(connection.value("PRAGMA user_version"));
}

/** The folder and an empty file, for this user only: rows name models, keys and times of use. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // An existing file is not opened: closing it again would drop this process's locks on it.
  if (existsSync(path)) return;
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
}

/** Renames a damaged file unless another process has done so: then the path names a new one. */
function setAsideIfSame(path: string, inode: bigint): string | null {
  if (statSync(path, { bigint: true, throwIfNoEntry: false })?.ino !== inode) return null;
  const stamp = new Date().toISOString().replace(/[-:.]/g, "");
  const aside = `${path}.damaged-${stamp}`;
  renameSync(path, aside);
  for (const companion of COMPANIONS) {
    if (existsSync(path + companion)) renameSync(path + companion, aside + companion);
  }
  removeOldest(path);
  return aside;
}

function removeOldest(path: string): void {
  const start = `${basename(path)}.damaged-`;
  const kept = readdirSync(dirname(path)).filter(
    (name) => name.startsWith(start) && !COMPANIONS.some((companion) => name.endsWith(companion)),
  );
  for (const name of kept.sort().slice(0, -SET_ASIDE_KEPT)) {
    for (const companion of ["", ...COMPANIONS]) {
      rmSync(join(dirname(path), name + companion), { force: true });
    }
  }
}
