import type { Dispatcher } from "undici";

/** Bytes held for a reader that is slower than the engine; beyond them the connection is not read. */
const HIGH_WATER = 64 * 1024;

/** The beginning of an answer. */
export interface AnswerHead {
  status: number;
  /** To be read once, to its end, or cut by the signal. */
  bytes: AnswerBytes;
}

/**
 * The bytes of one answer as they come from the connection, without the streams in between: those
 * cost more, for every token, than all that is done with it.
 */
export class AnswerBytes implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  /** Resolves with the head; rejects with what cut the connection before it came. */
  readonly head: Promise<AnswerHead>;
  #settleHead: { resolve: (head: AnswerHead) => void; reject: (error: Error) => void } | null =
    null;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => {
    const reason = asError(this.#signal.reason);
    if (this.#controller) this.#controller.abort(reason);
    else this.#settleHead?.reject(reason);
  };
  #controller: Dispatcher.DispatchController | null = null;
  readonly #pieces: Uint8Array[] = [];
  #held = 0;
  #paused = false;
  #ended = false;
  #failure: Error | null = null;
  #reader: {
    resolve: (result: IteratorResult<Uint8Array>) => void;
    reject: (error: Error) => void;
  } | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.head = new Promise((resolve, reject) => {
      this.#settleHead = { resolve, reject };
    });
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#held -= piece.length;
      if (this.#paused && this.#held < HIGH_WATER) {
        this.#paused = false;
        this.#controller?.resume();
      }
      return Promise.resolve({ done: false, value: piece });
    }
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** A reader that stops early has no use for the rest: the connection is cut. */
  return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended && !this.#failure) this.#controller?.abort(new Error("nobody reads on"));
    this.#pieces.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#onAbort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 1xx answers come before the one that counts.
    if (status >= 200) this.#settleHead?.resolve({ status, bytes: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    if (this.#reader) {
      const { resolve } = this.#reader;
      this.#reader = null;
      resolve({ done: false, value: piece });
      return;
    }
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held >= HIGH_WATER) {
      this.#paused = true;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.#over();
    this.#ended = true;
    this.#reader?.resolve({ done: true, value: undefined });
    this.#reader = null;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#over();
    const failure = this.#signal.aborted ? asError(this.#signal.reason) : error;
    this.#failure = failure;
    this.#settleHead?.reject(failure);
    this.#reader?.reject(failure);
    this.#reader = null;
  }

  #over(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
