import type { Logger } from "../observe/index.js";
import { type SomnusError, toSomnusError } from "./errors.js";
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

export function createAnswers(
  writeError: ErrorWriter,
  streams: StreamTiming,
  log: Logger,
): Answers {
  function whole(exchange: Exchange, { status, headers, contentType, body }: WholeReply): void {
    if (!exchange.claim()) return;
    const { reply } = exchange;
    if (headers) reply.headers(headers);
    reply.code(status).header("content-type", contentType).send(body);
  }

  function events(exchange: Exchange, { events, onError, headers }: EventsReply): void {
    const { reply, signal } = exchange;
    const { raw: response } = reply;
    streamEvents(events, onError, streams, {
      response,
      signal,
      open() {
        if (response.destroyed || !exchange.claim()) return false;
        const late = headers?.() ?? {};
        reply.hijack();
        response.writeHead(200, {
          ...(reply.getHeaders() as Record<string, string>),
          ...late,
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
    const { status, headers, body } = writeError(failure);
    if (failure.code === "request_timeout" || failure.code === "body_limit_exceeded") {
      reply.header("connection", "close");
    }
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

/** The server's own failures go to the log with their cause; what a client did wrong does not. */
function report({ requestId, reply }: Exchange, error: SomnusError, log: Logger): void {
  if (error.kind.status < 500 || error.code === "staging" || error.code === "shutting_down") return;
  const { method, url = "" } = reply.request.raw;
  log.error(
    { request_id: requestId, method, path: pathOf(url), code: error.code, err: error },
    error.message,
  );
}
