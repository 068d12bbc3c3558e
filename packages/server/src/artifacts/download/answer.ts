import type { IncomingHttpHeaders } from "undici/types/header.js";
import { SourceFailure } from "../failure.js";
import type { Range } from "../part/ranges.js";
import { retryAfterMs } from "../retry-after.js";

/** What a server's answer is: the whole file, a piece of it, or that there is no such piece. */
export type Answer =
  | { kind: "whole"; size: number | null; validator: string | null }
  | { kind: "piece"; range: Range; size: number | null; validator: string | null }
  | { kind: "none"; size: number | null };

/** The parts of an answer that say what it is. */
export interface AnswerHead {
  statusCode: number;
  headers: IncomingHttpHeaders;
}

const ADVICE: Partial<Record<number, string>> = {
  401: "it wants a sign-in, which this source cannot give; use another source",
  403: "it refuses access; the link may have expired, or a proxy or firewall forbids it",
  404: "it has no such file; the address may be out of date",
  407: "the proxy wants a sign-in; put user and password into the proxy setting",
  410: "it has no such file any more; the address is out of date",
  451: "it may not give the file out where you are",
};

/**
 * Reads the head of an answer (RFC 9110, sections 14 and 15). Throws a `faltered` failure for a busy or broken
 * server, with the wait that it asks for, and `wrong` for everything that is not this file.
 */
export function readAnswer(
  { statusCode, headers }: AnswerHead,
  advice: Partial<Record<number, string>> = {},
  now: number = Date.now(),
): Answer {
  if (statusCode === 416) return { kind: "none", size: unsatisfiedSize(headers) };
  if (statusCode !== 200 && statusCode !== 206) {
    const again =
      statusCode === 408 || statusCode === 425 || statusCode === 429 || statusCode >= 500;
    const hint = advice[statusCode] ?? ADVICE[statusCode];
    const said = `it answered with status ${statusCode}${again ? " (busy or broken)" : ""}`;
    throw new SourceFailure(again ? "faltered" : "wrong", hint ? `${said}: ${hint}` : said, {
      retryAfterMs: again ? retryAfterMs(headers["retry-after"], now) : null,
    });
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new SourceFailure("wrong", `it sent the file encoded (${encoding})`);
  }
  const validator = validatorOf(headers);
  if (statusCode === 206) {
    const piece = contentRange(headers);
    if (!piece) throw new SourceFailure("wrong", "it sent a piece without saying which");
    return { kind: "piece", ...piece, validator };
  }
  return { kind: "whole", size: count(headers["content-length"]), validator };
}

/** Whether an answer is a web page by its own word. */
export function isWebPage({ headers }: AnswerHead): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(String(headers["content-type"] ?? ""));
}

/** Whether the end of the body can be told from a broken connection. */
export function hasCertainEnd({ headers }: AnswerHead): boolean {
  return (
    headers["content-length"] !== undefined ||
    /\bchunked\b/i.test(String(headers["transfer-encoding"] ?? ""))
  );
}

/** Whether a validator may stand in `If-Range`: weak ETags may not (RFC 9110, 13.1.5). */
export function isStrong(validator: string): boolean {
  return !validator.startsWith("W/");
}

/**
 * Whether a validator alone proves that two answers are of the same bytes: only a strong ETag does. A weak one says
 * that they mean the same, a date that they are of the same second (RFC 9110, 8.8).
 */
export function provesContent(validator: string | null): boolean {
  return validator?.startsWith('"') === true;
}

function validatorOf(headers: IncomingHttpHeaders): string | null {
  const { etag, "last-modified": date } = headers;
  if (typeof etag === "string" && etag !== "" && isStrong(etag)) return etag;
  if (typeof date === "string" && date !== "") return date;
  return typeof etag === "string" && etag !== "" ? etag : null;
}

function contentRange(headers: IncomingHttpHeaders): { range: Range; size: number | null } | null {
  const found = /^\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*$/i.exec(
    String(headers["content-range"] ?? ""),
  );
  if (!found) return null;
  const [start, last, size] = [count(found[1]), count(found[2]), count(found[3])];
  if (start === null || last === null || last < start) return null;
  if (size !== null && last >= size) return null;
  return { range: [start, last + 1], size };
}

function unsatisfiedSize(headers: IncomingHttpHeaders): number | null {
  return count(/^\s*bytes\s+\*\/(\d+)\s*$/i.exec(String(headers["content-range"] ?? ""))?.[1]);
}

function count(text: unknown): number | null {
  if (typeof text !== "string" || !/^\d+$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}
