import type { FastifyReply } from "fastify";
import { SomnusError } from "./errors.js";
import type { Caller } from "./keys.js";
import type { AnswerEnd, Route } from "./route.js";

/** The longest time that a timer can be set to, milliseconds. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One request and its answer: who writes it, until when, and who is told when nobody waits any more. */
export class Exchange {
  readonly requestId: string;
  readonly reply: FastifyReply;
  /** When the request's head had come, ms of the monotonic clock. */
  readonly startedAt = performance.now();
  route: Route | null = null;
  caller: Caller | null = null;
  #controller: AbortController | null = null;
  #reason: SomnusError | null = null;
  #answered = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #onEnd: ((answer: AnswerEnd) => void)[] = [];
  #ended: AnswerEnd | null = null;

  constructor(requestId: string, reply: FastifyReply) {
    this.requestId = requestId;
    this.reply = reply;
  }

  /** Made on first use, since most short answers never need it. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether somebody has begun to write the answer. */
  get answered(): boolean {
    return this.#answered;
  }

  /** True for the first caller only: it writes the answer. From then on there is no time limit. */
  claim(): boolean {
    if (this.#answered) return false;
    this.#answered = true;
    this.#stopTimer();
    return true;
  }

  /** Tells whoever works on the answer that nobody waits for it; only the first reason counts. */
  abort(reason: SomnusError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Runs `onTimeout` unless the answer begins within `ms`, which is at most {@link LONGEST_TIMER_MS}. */
  limit(ms: number, onTimeout: () => void): void {
    this.#timer = setTimeout(onTimeout, ms);
  }

  /** Calls `listener` once, when the last byte of the answer has been written or nobody is left to read it. */
  onEnd(listener: (answer: AnswerEnd) => void): void {
    if (this.#ended === null) this.#onEnd.push(listener);
    else listener(this.#ended);
  }

  /** The connection or the answer has ended. */
  end(): void {
    this.#stopTimer();
    const { writableFinished: isWhole, statusCode, headersSent } = this.reply.raw;
    if (!isWhole) this.abort(new SomnusError("cancelled", "The client went away."));
    if (this.#ended !== null) return;
    this.#ended = { status: headersSent ? statusCode : null, isWhole };
    for (const listener of this.#onEnd) listener(this.#ended);
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
