import type { ResponsesAnswer, ResponsesEvent, Telemetry } from "@somnus/contract";
import type { GenerationEvent } from "../formats/index.js";
import type { ResponsesWriter } from "../formats/openai-responses/index.js";
import { SomnusError } from "../http/index.js";
import type { RunningResponse } from "./running-responses.js";

/** A response on its way to the client: it ends once, however that comes about, and is kept then. */
export class StreamedResponse implements RunningResponse {
  readonly ended: Promise<ResponsesAnswer>;
  readonly #controller = new AbortController();
  readonly #onEnd: (response: ResponsesAnswer | null) => void;
  #failed: ResponsesEvent | null = null;
  #isOver = false;
  #resolve: (response: ResponsesAnswer) => void = () => {};

  /** @param onEnd told once, with null where the client has never heard of the response; must not throw */
  constructor(
    readonly owner: string,
    private readonly writer: ResponsesWriter,
    onEnd: (response: ResponsesAnswer | null) => void,
  ) {
    this.#onEnd = onEnd;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Fires when somebody stops the response. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  response(): ResponsesAnswer {
    return this.writer.response;
  }

  /** It has ended with this, also for a client that does not read on. */
  stop(reason: SomnusError): void {
    this.fail(reason);
    this.#controller.abort(reason);
  }

  /** The events of its generation; the last one follows when the response has ended. */
  async *write(
    events: AsyncIterable<GenerationEvent>,
    telemetry: () => Telemetry,
  ): AsyncGenerator<ResponsesEvent, void, void> {
    for await (const event of this.writer.write(events, telemetry)) {
      this.signal.throwIfAborted();
      if (this.writer.isOver) this.#over();
      yield event;
      // What was stopped while the client did not read has been told as far as it was.
      this.signal.throwIfAborted();
    }
  }

  /** The event that tells of a failure, the first one that there was. */
  fail(error: SomnusError): ResponsesEvent {
    this.#failed ??= this.writer.fail(error);
    this.#over();
    return this.#failed;
  }

  /** To be called when the answer is over for its client: what has not ended by then is cancelled. */
  close(): void {
    if (!this.#isOver) this.fail(new SomnusError("cancelled", "The client went away."));
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { response } = this.writer;
    this.#onEnd(this.writer.isCreated ? response : null);
    this.#resolve(response);
  }
}
