/**
 * How long a server wants to be left alone, ms, by its `Retry-After`: seconds or a date (RFC 9110, 10.2.3); null
 * when that says neither.
 * @param now unix time, ms
 */
export function retryAfterMs(header: unknown, now: number): number | null {
  const asked = String(header ?? "").trim();
  if (/^\d{1,9}$/.test(asked)) return Number(asked) * 1_000;
  const date = Date.parse(asked);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
