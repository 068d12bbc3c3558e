import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "../observe/index.js";
import type { Exchange } from "./exchange.js";
import type { Caller } from "./keys.js";
import type { AnswerEnd, Call } from "./route.js";

/** An exchange as its handler sees it. */
export class RouteCall implements Call {
  readonly #exchange: Exchange;
  readonly #log: Logger;
  readonly #draining: () => boolean;

  constructor(exchange: Exchange, log: Logger, draining: () => boolean) {
    this.#exchange = exchange;
    this.#log = log;
    this.#draining = draining;
  }

  get requestId(): string {
    return this.#exchange.requestId;
  }

  get params(): unknown {
    return this.#exchange.reply.request.params;
  }

  get query(): unknown {
    return this.#exchange.reply.request.query;
  }

  get body(): unknown {
    return this.#exchange.reply.request.body;
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.reply.request.raw.headers;
  }

  get rawUrl(): string {
    return this.#exchange.reply.request.raw.url ?? "";
  }

  get caller(): Caller | null {
    return this.#exchange.caller;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get startedAt(): number {
    return this.#exchange.startedAt;
  }

  setHeader(name: string, value: string): void {
    if (!this.#exchange.answered) this.#exchange.reply.header(name, value);
  }

  onEnd(listener: (answer: AnswerEnd) => void): void {
    this.#exchange.onEnd(listener);
  }

  get draining(): boolean {
    return this.#draining();
  }

  get log(): Logger {
    return this.#log.child({ request_id: this.#exchange.requestId });
  }
}
