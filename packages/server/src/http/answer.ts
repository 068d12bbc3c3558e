import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Logger } from "../observe/index.js";
import { type ErrorCode, type SomnusError, toSomnusError } from "./errors.js";
import type { Exchange } from "./exchange.js";
import { pathOf } from "./path-methods.js";
import { isStillSending, refuseWhileSending } from "./refuse.js";
import type { EventsReply, Reply, WholeReply } from "./route.js";
import { type StreamTiming, streamEvents } from "./sse.js";
import type { ErrorWriter } from "./write-error.js";

/** Writes what handlers return and throw. */
export interface Answers {
  reply(exchange: Exchange, reply: Reply): void;
  /** Nothing happens where the answer has begun, or where nobody is left to read it. */
  error(exchange: Exchange, error: SomnusError): void;
}

/**
 * @param closing whether connections end with the answers on them
 */
export function createAnswers(
  writeError: ErrorWriter,
  streams: StreamTiming,
  closing: () => boolean,
  log: Logger,
): Answers {
  function whole(
    exchange: Exchange,
    { status, headers = {}, contentType, body }: WholeReply,
  ): void {
    validate(headers);
    if (!exchange.claim()) return;
    const { reply } = exchange;
    if (closing()) reply.header("connection", "close");
    reply.headers(headers).code(status).header("content-type", contentType).send(body);
  }

  function events(exchange: Exchange, { headers, ...source }: EventsReply): void {
    const { reply, signal } = exchange;
    const { raw: response } = reply;
    streamEvents(source, streams, {
      response,
      signal,
      open() {
        const late = headers?.() ?? {};
        validate(late);
        if (response.destroyed || !exchange.claim()) return false;
        reply.hijack();
        response.writeHead(200, {
          ...(reply.getHeaders() as Record<string, string>),
          ...late,
          ...(closing() ? { connection: "close" } : {}),
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-cache",
          "x-accel-buffering": "no",
        });
        return true;
      },
      fail: (failure) => error(exchange, failure),
      report: (failure) => report(exchange, failure, log),
    });
  }

  function error(exchange: Exchange, failure: SomnusError): void {
    const { reply } = exchange;
    if (reply.raw.destroyed || !exchange.claim()) return;
    report(exchange, failure, log);
    const { status, headers, body } = writeError(failure, {
      requestId: exchange.requestId,
      path: pathOf(reply.request.raw.url ?? ""),
    });
    if (closing() || LAST_ON_CONNECTION.has(failure.code)) reply.header("connection", "close");
    reply.headers(headers);
    if (!isStillSending(reply.request.raw)) {
      reply.code(status).send(body);
      return;
    }
    reply.hijack();
    refuseWhileSending(reply.request.raw, reply.raw, status, reply.getHeaders(), body);
  }

  return {
    reply(exchange, reply) {
      try {
        if (reply.kind === "whole") whole(exchange, reply);
        else events(exchange, reply);
      } catch (cause) {
        error(exchange, toSomnusError(cause));
      }
    },
    error,
  };
}

/** After these the client's own part of the connection is not to be trusted. */
const LAST_ON_CONNECTION: ReadonlySet<ErrorCode> = new Set([
  "request_timeout",
  "body_limit_exceeded",
]);

/** Before the answer is claimed, so that a handler's mistake can still become an error. */
function validate(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}

/** Refusals in the course of things: nothing has failed, or it was logged when it did. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "staging",
  "shutting_down",
  "load_cooldown",
  "deadline_unmeetable",
  "memory_in_use",
]);

/** The server's own failures go to the log with their cause; what a client did wrong or asked too much of does not. */
function report({ requestId, reply }: Exchange, error: SomnusError, log: Logger): void {
  if (error.kind.status < 500 || REFUSALS.has(error.code)) return;
  const { method, url = "" } = reply.request.raw;
  log.error(
    { request_id: requestId, method, path: pathOf(url), code: error.code, err: error },
    error.message,
  );
}
