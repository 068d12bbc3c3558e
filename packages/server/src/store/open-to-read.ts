import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Query } from "./query.js";

/** The rows of a store that another process may be writing. */
export interface StoreReader {
  /** Asks a query of this room. @throws what SQLite says */
  ask<R>(query: Query<R>): Promise<R>;
  close(): void;
}

/** Opens a store's file to read it only; null where it is not there, cannot be read or has other tables. */
export async function openStoreToRead(file: string): Promise<StoreReader | null> {
  if (!existsSync(file)) return null;
  const { Connection } = await import("./connection.js");
  let connection: InstanceType<typeof Connection> | null = null;
  try {
    const opened = new Connection(`${pathToFileURL(file).href}?mode=ro`);
    connection = opened;
    opened.checkTables();
    return {
      ask: async (query) => query.read(opened.all(query.sql, query.values)),
      close: () => opened.close(),
    };
  } catch {
    connection?.close();
    return null;
  }
}
