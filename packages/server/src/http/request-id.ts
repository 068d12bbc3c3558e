import { randomFillSync } from "node:crypto";

const BYTES_PER_ID = 16;
const pool = Buffer.allocUnsafe(BYTES_PER_ID * 256);
let offset = pool.length;

/** A new request id, `req-` and 32 hex digits. Random bytes are drawn for 256 ids at a time. */
export function newRequestId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const start = offset;
  offset += BYTES_PER_ID;
  return `req-${pool.toString("hex", start, offset)}`;
}
