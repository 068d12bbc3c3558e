import { columnList } from "../statements.js";
import type { Store } from "../store.js";
import { type Row, TABLES } from "../tables.js";
import { decodeRow } from "../values.js";

/** A response with its input, and until when it is kept. */
export type StoredResponse = Row<"responses">;

/** Longest chain of responses that go on from one another. */
const LONGEST_CHAIN = 2_000;
/** Most responses that one question may name; SQLite takes more. */
const MOST_NAMED = 500;

const COLUMNS = columnList(TABLES.responses);
const rowsOf = (rows: readonly (readonly (string | number | null)[])[]) =>
  rows.map((row) => decodeRow(TABLES.responses, row) as unknown as StoredResponse);

/** Keeps responses; one with the same id is replaced. */
export function saveResponses(store: Store, responses: readonly StoredResponse[]): void {
  store.upsert("responses", responses);
}

/** Those of these responses that are the owner's and kept at `now`, in no order; the first 500 are looked for. */
export function responsesOf(
  store: Store,
  owner: string,
  ids: readonly string[],
  now: number,
): Promise<StoredResponse[]> {
  const named = ids.slice(0, MOST_NAMED);
  const holes = named.map(() => "?").join(", ");
  return store.ask({
    sql: `SELECT ${COLUMNS} FROM responses WHERE id IN (${holes}) AND owner = ? AND expiresAt > ?`,
    values: [...named, owner, now],
    read: rowsOf,
  });
}

/**
 * A response of the owner's and those that it goes on from, the newest first. The last has a
 * `previousId` where the chain is broken.
 */
export function responseChain(
  store: Store,
  owner: string,
  id: string,
  now: number,
): Promise<StoredResponse[]> {
  return store.ask({
    sql: `
      WITH RECURSIVE chain (at, linkId) AS (
        SELECT 0, ?
        UNION ALL
        SELECT chain.at + 1, responses.previousId FROM chain JOIN responses ON responses.id = chain.linkId
        WHERE responses.previousId IS NOT NULL AND responses.owner = ? AND responses.expiresAt > ?
          AND chain.at < ${LONGEST_CHAIN}
      )
      SELECT ${COLUMNS.replaceAll('"at"', 'responses."at"')} FROM chain JOIN responses ON responses.id = chain.linkId
      WHERE responses.owner = ? AND responses.expiresAt > ? ORDER BY chain.at`,
    values: [id, owner, now, owner, now],
    read: rowsOf,
  });
}

/** Ids of the oldest responses, as far as there are more than `most`, or more than `bytes` together. */
export function responsesBeyond(
  store: Store,
  limits: { most: number; bytes: number },
  now: number,
): Promise<string[]> {
  return store.ask({
    sql: `
      SELECT id FROM (
        SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM responses WHERE expiresAt > ?
        WINDOW newest AS (ORDER BY at DESC, id ROWS UNBOUNDED PRECEDING)
      ) WHERE place > ? OR total > ?`,
    values: [now, limits.most, limits.bytes],
    read: (rows) => rows.map(([id]) => String(id)),
  });
}

/** Empties responses; their rows are cleared away later. */
export function removeResponses(store: Store, ids: readonly string[]): void {
  const nothing = { owner: "", previousId: null, bytes: 0, at: 0, expiresAt: 0 };
  store.upsert(
    "responses",
    ids.map((id) => ({ id, ...nothing, response: null, input: null })),
  );
}
