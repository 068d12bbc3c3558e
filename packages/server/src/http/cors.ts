import type { IncomingMessage } from "node:http";
import type { Origins } from "./origin.js";

/** What scripts of other origins may read, beside the headers that browsers always show. */
const EXPOSED_HEADERS = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-hypnos-estimated-wait-ms",
  "x-hypnos-previous-tier",
  "x-hypnos-gpu-layers",
  "x-hypnos-switch-ms",
  "x-hypnos-inference-ms",
  "x-hypnos-audio-secs",
  "x-hypnos-rtf",
  "x-acumen-served-model",
].join(", ");

const ALLOWED_METHODS = "GET, POST, OPTIONS";

/** Seconds a browser may remember the answer of a preflight. */
const PREFLIGHT_MAX_AGE_SECS = 600;

/** Marks requests that come from this machine's own tools; a page must never be able to send it. */
const NEVER_FROM_A_PAGE = "x-acumen-local";

/**
 * The headers that let a page of an allowed origin read the answer, errors included; undefined for
 * requests without an origin. A foreign origin gets `vary` only, and the browser keeps the answer
 * from its page.
 */
export function corsHeaders(
  request: IncomingMessage,
  origins: Origins,
): Record<string, string> | undefined {
  const { origin } = request.headers;
  if (origin === undefined) return undefined;
  if (!origins.allows(origin)) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED_HEADERS,
  };
}

/** Whether the request asks, for a page, if a real one may follow. */
export function isPreflight(request: IncomingMessage): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.origin !== undefined &&
    request.headers["access-control-request-method"] !== undefined
  );
}

/** What a preflight is told beside {@link corsHeaders}; nothing for a foreign origin. */
export function preflightHeaders(
  request: IncomingMessage,
  origins: Origins,
): Record<string, string> {
  if (!origins.allows(request.headers.origin ?? "")) return {};
  const wanted = String(request.headers["access-control-request-headers"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(
      (name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && name.toLowerCase() !== NEVER_FROM_A_PAGE,
    );
  return {
    vary: "Origin, Access-Control-Request-Headers",
    "access-control-allow-methods": ALLOWED_METHODS,
    "access-control-max-age": String(PREFLIGHT_MAX_AGE_SECS),
    ...(wanted.length === 0 ? {} : { "access-control-allow-headers": wanted.join(", ") }),
  };
}
