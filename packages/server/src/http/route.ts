import type { IncomingHttpHeaders } from "node:http";
import type { Static, TSchema } from "@somnus/contract";
import type { Logger } from "../observe/index.js";
import type { SomnusError } from "./errors.js";
import { CHUNKS, type EventFraming } from "./framing.js";
import type { Caller } from "./keys.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call a route when API keys are configured. */
export type Scope = "open" | "key" | "admin";

/** How an answer ended. */
export interface AnswerEnd {
  /** Null when the client left before there was one. */
  readonly status: number | null;
  /** Whether its last byte has been written. */
  readonly isWhole: boolean;
}

/** One request as a handler sees it: checked by the row's schemas, its caller known. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly requestId: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /** The request target as it came. */
  readonly rawUrl: string;
  /** Whose key the request carried; null where no key is needed. */
  readonly caller: Caller | null;
  /**
   * Fires when nobody waits for the answer any more. Its reason is a SomnusError: `cancelled` (the
   * client is gone), `request_timeout`, or `shutting_down` (the time to drain is over).
   */
  readonly signal: AbortSignal;
  /** Whether the server is going down; routes that need a key are refused by then. */
  readonly draining: boolean;
  /** When the request's head had come, ms of the monotonic clock. */
  readonly startedAt: number;
  /** Adds a header to the answer, whatever that becomes, also an error. Does nothing once it has begun. */
  setHeader(name: string, value: string): void;
  /** Calls `listener` once, when the answer's last byte has been written or nobody is left to read it. It must not throw. */
  onEnd(listener: (answer: AnswerEnd) => void): void;
  /** Carries the request id. */
  readonly log: Logger;
}

type Headers = Readonly<Record<string, string>>;

/** The answer of a handler; made by {@link jsonReply}, {@link textReply}, {@link htmlReply} or {@link sseReply}. */
export type Reply = WholeReply | EventsReply;

/** An answer that is complete when the handler returns. */
export interface WholeReply {
  readonly kind: "whole";
  readonly status: number;
  readonly headers?: Headers | undefined;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** An answer that is streamed as server-sent events. */
export interface EventsReply {
  readonly kind: "events";
  readonly events: AsyncIterable<unknown>;
  readonly onError: (error: SomnusError) => unknown;
  readonly framing: EventFraming;
  readonly headers: (() => Headers) | undefined;
}

export interface ReplyInit {
  /** 200 when left out. */
  status?: number;
  headers?: Headers;
}

/** A JSON answer. The value is serialized at once; what `JSON.stringify` throws, this throws. */
export function jsonReply(value: unknown, init: ReplyInit = {}): Reply {
  return whole("application/json; charset=utf-8", JSON.stringify(value), init);
}

/** A plain-text answer. */
export function textReply(text: string, init: ReplyInit = {}): Reply {
  return whole("text/plain; charset=utf-8", text, init);
}

/** A web page. */
export function htmlReply(html: string, init: ReplyInit = {}): Reply {
  return whole("text/html; charset=utf-8", html, init);
}

function whole(contentType: string, body: string, { status = 200, headers }: ReplyInit): Reply {
  return { kind: "whole", status, headers, contentType, body };
}

/**
 * A stream of server-sent events, each item one `data:` line of JSON, then `data: [DONE]`. The head
 * waits for the first item (or some seconds), so an error before it is an ordinary HTTP error;
 * after it, `onError` makes the chunk that tells of it. The iterator's `return()` is called when the
 * client goes away.
 */
export function sseReply(
  events: AsyncIterable<unknown>,
  how: {
    onError: (error: SomnusError) => unknown;
    /** Unnamed events and `[DONE]` when left out. */
    framing?: EventFraming;
    /** Asked once, when the head is written. */
    headers?: () => Headers;
  },
): Reply {
  const { onError, framing = CHUNKS, headers } = how;
  return { kind: "events", events, onError, framing, headers };
}

/** What the OpenAPI document says of one status: a JSON schema, or bodies by content type (null: no schema). */
export type ReplyDoc =
  | TSchema
  | { readonly description: string; readonly content: Readonly<Record<string, TSchema | null>> };

/** A row of a door's table of routes. */
export interface RouteRow<Params extends TSchema, Query extends TSchema, Body extends TSchema> {
  readonly method: Method;
  /** `:name` stands for one segment, percent-decoded. */
  readonly path: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly params?: Params;
  readonly query?: Query;
  /** The JSON body; without it a body is not read. */
  readonly body?: Body;
  /** Bytes, where the door's own limit is not meant. */
  readonly bodyLimit?: number;
  /** Answers by status. What every route can answer (401, 408, 413, ...) is added by the door. */
  readonly replies: Readonly<Record<number, ReplyDoc>>;
  /** The body of every error, where it is not the door's own. */
  readonly errorBody?: TSchema;
  readonly scope: Scope;
  readonly openWhileStaging: boolean;
  readonly handler: (
    call: Call<Static<Params>, Static<Query>, Static<Body>>,
  ) => Reply | Promise<Reply>;
}

/** A row whose types have done their work: what a door takes. */
export interface Route extends Omit<RouteRow<TSchema, TSchema, TSchema>, "handler"> {
  readonly handler: (call: Call) => Reply | Promise<Reply>;
}

/** One row of a door's table, its handler typed by its schemas. */
export function defineRoute<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
>(row: RouteRow<Params, Query, Body>): Route {
  // The door hands the handler only what the row's schemas have accepted.
  return row as Route;
}
