import { countOf, isObject, type Json, listOf, textOf } from "./json.js";

/**
 * How long a vendor wants to be left alone, ms; null where it does not say. `Retry-After-Ms`, `Retry-After` in seconds
 * or as a date (RFC 9110, 10.2.3), else what its error object says: `resets_in_seconds`, or the `retryDelay` of
 * Google's RetryInfo (a duration of protobuf, "34s" or "1.5s").
 * @param now unix time, ms
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  error: Json | null,
  now: number,
): number | null {
  return (
    millisecondsOf(headers["retry-after-ms"]) ??
    secondsOrDate(headers["retry-after"], now) ??
    (error ? ofError(error) : null)
  );
}

type Header = string | readonly string[] | undefined;

function millisecondsOf(header: Header): number | null {
  const text = single(header);
  return /^\d{1,12}(?:\.\d+)?$/.test(text) ? Math.round(Number(text)) : null;
}

function secondsOrDate(header: Header, now: number): number | null {
  const text = single(header);
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  // Else the platform makes a date of almost any text with a number in it.
  const date = /^\w{3,9},? |^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function single(header: Header): string {
  return (typeof header === "string" ? header : (header?.[0] ?? "")).trim();
}

function ofError(error: Json): number | null {
  const resets = countOf(error.resets_in_seconds);
  if (resets !== undefined) return Math.round(resets * 1_000);
  for (const detail of listOf(error.details)) {
    if (!isObject(detail)) continue;
    const delay = /^(\d{1,9}(?:\.\d+)?)s$/.exec(textOf(detail.retryDelay))?.[1];
    if (delay !== undefined) return Math.round(Number(delay) * 1_000);
  }
  return null;
}
