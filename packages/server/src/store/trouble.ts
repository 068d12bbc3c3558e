/**
 * What is wrong when SQLite says no. `busy`: another process writes and did not finish in time.
 * `storage`: the disk, the folder or its rights. `damaged`: the file is not a sound database.
 * `statement`: what was asked, not where it was kept.
 */
export type Trouble = "busy" | "storage" | "damaged" | "statement";

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const TROUBLES: Readonly<Record<number, Trouble>> = {
  3: "storage", // PERM
  5: "busy", // BUSY
  6: "busy", // LOCKED
  8: "storage", // READONLY
  10: "storage", // IOERR
  11: "damaged", // CORRUPT
  13: "storage", // FULL
  14: "storage", // CANTOPEN
  15: "busy", // PROTOCOL: too many tries for the lock of the log
  22: "storage", // NOLFS
  23: "storage", // AUTH
  26: "damaged", // NOTADB
};

/** Sorts an error of libsql, or of the file system. */
export function troubleOf(error: unknown): Trouble {
  const { code, rawCode, message } = error as {
    code?: unknown;
    rawCode?: unknown;
    message?: unknown;
  };
  if (typeof rawCode === "number") return TROUBLES[rawCode & 0xff] ?? "statement";
  // A connection that cannot be opened has no code but a number at the end of its text.
  const unopened = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(String(message));
  if (unopened) return TROUBLES[Number(unopened[1]) & 0xff] ?? "storage";
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? "storage" : "statement";
}

/** The error in words for a person: what SQLite or the system said. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
