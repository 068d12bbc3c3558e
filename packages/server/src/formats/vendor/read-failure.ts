import { type FailureKind, isRetryable, VendorError, type VendorFailure } from "./failure.js";
import { isObject, type Json, listOf, objectOf, textOf } from "./json.js";
import { retryAfterMs } from "./retry-after.js";

/** An answer with a status that says it failed. */
export interface FailedAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As far as it was read. */
  body: string;
}

/** What an error object says for itself. */
export interface ErrorFields {
  message: string;
  type: string | null;
  code: string | null;
  param: string | null;
}

/** What a format's own words for a failure mean; null where they say no more than the status does. */
export type WordsMeaning = (fields: ErrorFields) => FailureKind | null;

/** A meaning by the code of an error, or else by its type. */
export function meaningBy(kinds: Readonly<Record<string, FailureKind>>): WordsMeaning {
  const of = (word: string | null) =>
    word !== null && Object.hasOwn(kinds, word) ? kinds[word] : undefined;
  return ({ code, type }) => of(code) ?? of(type) ?? null;
}

const LONGEST_MESSAGE = 1_000;

/**
 * A failed answer in one form: read from its body where that is JSON of any usual shape, from its status where not.
 * @param now unix time, ms
 */
export function readFailure(
  answer: FailedAnswer,
  meaning: WordsMeaning,
  now: number,
): VendorFailure {
  const { status, headers, body } = answer;
  const error = errorIn(parsed(body));
  const fields = error ? fieldsOf(error) : { ...EMPTY, message: proseOf(body) };
  const kind = meaning(fields) ?? kindOfStatus(status);
  return {
    ...fields,
    kind,
    status,
    message: fields.message || `It answered with status ${status} and said nothing.`,
    retryable: isRetryable(kind),
    retryAfterMs: retryAfterMs(headers, error, now),
  };
}

/**
 * An error object that came where an answer was to be: in a stream, or in a body whose status says that all is well.
 */
export function errorInAnswer(error: unknown, meaning: WordsMeaning): VendorError {
  const object = isObject(error) ? error : { message: textOf(error) };
  const fields = fieldsOf(object);
  // Some put the status there that they could not send any more.
  const status = Number(fields.code);
  const known = Number.isInteger(status) && status >= 400 && status < 600;
  const cause = meaning(fields) ?? (known ? kindOfStatus(status) : "server_error");
  return new VendorError({
    ...fields,
    kind: "error_event",
    status: null,
    message: fields.message || "It broke off its answer with an error and did not say why.",
    retryable: isRetryable(cause),
    retryAfterMs: retryAfterMs({}, object, 0),
  });
}

/** @param status of HTTP */
function kindOfStatus(status: number): FailureKind {
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "payment";
  if (status === 404) return "model_missing";
  if (status === 408 || status === 425 || status >= 500) return "server_error";
  return status >= 400 ? "rejected" : "unreadable";
}

const EMPTY: ErrorFields = { message: "", type: null, code: null, param: null };

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The error object of a body, whichever way it is wrapped; null where it holds none. */
function errorIn(body: unknown): Json | null {
  // Google's endpoint for OpenAI's clients answers with a list of one.
  const whole = Array.isArray(body) ? body.find(isObject) : body;
  if (!isObject(whole)) return null;
  if (isObject(whole.error)) return whole.error;
  if (typeof whole.error === "string") return { ...whole, message: whole.error };
  return whole;
}

function fieldsOf(error: Json): ErrorFields {
  const { type, status, code, param } = error;
  return {
    message: oneLine(messageOf(error)),
    type: wordOf(type) ?? (typeof status === "string" ? wordOf(status) : null),
    code: wordOf(code),
    param: wordOf(param),
  };
}

/** `message`, or the names that others have for it; the first of a list of faults. */
function messageOf({ message, detail, title, msg }: Json): string {
  for (const source of [message, detail, msg, title]) {
    if (typeof source === "string" && source !== "") return source;
    const [first] = listOf(source);
    const inner = objectOf(isObject(source) ? source : first);
    const text = textOf(inner.message) || textOf(inner.msg);
    if (text !== "") return text;
  }
  return "";
}

function wordOf(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value.slice(0, 200).toWellFormed() : null;
}

const HTML = /^\s*(?:<!doctype\s+html|<html|<head|<body|<\?xml)/i;
const TITLE = /<(title|h1)[^>]*>([^<]*)<\/\1>/i;

/** What a body that is no JSON says to people: a page's title, or the text. */
function proseOf(body: string): string {
  if (HTML.test(body)) return oneLine(TITLE.exec(body)?.[2] ?? "");
  return oneLine(body);
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * LONGEST_MESSAGE)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  const cut = line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
  return cut.toWellFormed();
}
