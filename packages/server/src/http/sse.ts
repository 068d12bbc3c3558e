import type { ServerResponse } from "node:http";
import { SomnusError, toSomnusError } from "./errors.js";
import type { EventFraming } from "./framing.js";

/** Times of a stream, milliseconds. */
export interface StreamTiming {
  /** The head waits this long for the first event. */
  readonly head: number;
  /** Silence is filled after this long without an event. */
  readonly comment: number;
  /** A client that reads nothing for this long, while something waits for it, is taken as gone. */
  readonly stall: number;
}

/** The side of the door that a stream writes to. */
export interface StreamSink {
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  /** Takes the answer and writes its head; false when something else has already answered. */
  open(): boolean;
  /** An error before the head: answered as an ordinary one. */
  fail(error: SomnusError): void;
  /** An error after the head, for the log. */
  report(error: SomnusError): void;
}

/** What a stream sends, and in which form. */
export interface StreamSource {
  readonly events: AsyncIterable<unknown>;
  /** Makes the item that ends a stream which failed after its head. */
  readonly onError: (error: SomnusError) => unknown;
  readonly framing: EventFraming;
}

/** Events as an answer. Ends when the events, the client or the server do; never throws. */
export function streamEvents(source: StreamSource, timing: StreamTiming, sink: StreamSink): void {
  new EventStream(source, timing, sink).run();
}

class EventStream {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #onError: (error: SomnusError) => unknown;
  readonly #framing: EventFraming;
  readonly #timing: StreamTiming;
  readonly #sink: StreamSink;
  readonly #abort = () => this.#onAbort();
  #timer: NodeJS.Timeout;
  #open = false;
  #gathering = false;
  #over = false;

  constructor({ events, onError, framing }: StreamSource, timing: StreamTiming, sink: StreamSink) {
    this.#iterator = events[Symbol.asyncIterator]();
    this.#onError = onError;
    this.#framing = framing;
    this.#timing = timing;
    this.#sink = sink;
    this.#timer = setTimeout(() => this.#onSilence(), timing.head);
  }

  run(): void {
    if (this.#sink.signal.aborted) this.#onAbort();
    else this.#sink.signal.addEventListener("abort", this.#abort, { once: true });
    if (!this.#over) void this.#pump();
  }

  async #pump(): Promise<void> {
    const { response } = this.#sink;
    try {
      for (;;) {
        const { done, value } = await this.#iterator.next();
        if (this.#over) return;
        if (!this.#ensureOpen()) return;
        if (done) {
          this.#close();
          response.end(this.#framing.end);
          return;
        }
        this.#gather();
        const flowing = response.write(this.#framing.item(value));
        this.#timer.refresh();
        if (!flowing) await this.#drained();
        if (this.#over) return;
      }
    } catch (error) {
      if (!this.#over) this.#breakOff(toSomnusError(error));
    }
  }

  /** Events that are there at once leave in one packet: a write costs more than all the rest of an event. */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#sink.response.cork();
    process.nextTick(() => {
      this.#gathering = false;
      this.#sink.response.uncork();
    });
  }

  /** Writes the head if nothing has been sent; false when this stream has no say any more. */
  #ensureOpen(): boolean {
    if (this.#open) return true;
    if (!this.#sink.open()) {
      this.#abandon();
      return false;
    }
    this.#open = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onSilence(), this.#timing.comment);
    return true;
  }

  #onSilence(): void {
    if (this.#over) return;
    try {
      if (!this.#ensureOpen()) return;
    } catch (error) {
      this.#breakOff(toSomnusError(error));
      return;
    }
    const { response } = this.#sink;
    if (!response.writableNeedDrain) response.write(this.#framing.silence());
    this.#timer.refresh();
  }

  /** Resolves when the client has read on, or when the stream is over. */
  #drained(): Promise<void> {
    const { response } = this.#sink;
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(stalled);
        response.off("drain", settle).off("close", settle);
        resolve();
      };
      const stalled = setTimeout(() => response.destroy(), this.#timing.stall);
      response.on("drain", settle).on("close", settle);
    });
  }

  #onAbort(): void {
    if (this.#over) return;
    const { signal, response } = this.#sink;
    const reason = toSomnusError(signal.reason);
    if (reason.code === "shutting_down") this.#breakOff(reason);
    else {
      this.#abandon();
      if (this.#open && !response.writableEnded) response.destroy();
    }
  }

  /** Ends the answer with an error: an ordinary one before the head, an event after it. */
  #breakOff(error: SomnusError): void {
    this.#abandon();
    if (!this.#open) {
      this.#sink.fail(error);
      return;
    }
    this.#sink.report(error);
    const { response } = this.#sink;
    let chunk = "";
    try {
      chunk = this.#framing.item(this.#onError(error));
    } catch (cause) {
      this.#sink.report(
        new SomnusError("internal", "The error chunk could not be written.", { cause }),
      );
    }
    response.end(chunk + this.#framing.end);
  }

  #abandon(): void {
    this.#close();
    this.#returnIterator();
  }

  #close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#sink.signal.removeEventListener("abort", this.#abort);
  }

  /** Lets the producer clean up. It may take its time, and it has nobody left to complain to. */
  #returnIterator(): void {
    try {
      this.#iterator.return?.().catch(() => {});
    } catch {
      // A producer whose return() throws at once has at least been told.
    }
  }
}
