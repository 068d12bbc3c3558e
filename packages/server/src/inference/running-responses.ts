import type { ResponsesAnswer } from "@somnus/contract";
import { SomnusError } from "../http/index.js";

/** A response that is being streamed. */
export interface RunningResponse {
  readonly owner: string;
  /** As far as it is. */
  response(): ResponsesAnswer;
  /** Ends its generation with the reason. */
  stop(reason: SomnusError): void;
  /** Resolves with the response when it has ended. */
  readonly ended: Promise<ResponsesAnswer>;
}

/** The responses that are being streamed now, by id. */
export class RunningResponses {
  readonly #running = new Map<string, RunningResponse>();

  add(id: string, running: RunningResponse): void {
    this.#running.set(id, running);
  }

  delete(id: string): void {
    this.#running.delete(id);
  }

  /** Null when no response of the owner's runs under the id. */
  get(owner: string, id: string): RunningResponse | null {
    const running = this.#running.get(id);
    return running?.owner === owner ? running : null;
  }

  /** Ends a response and resolves with what it has become; null when none runs under the id. */
  async cancel(owner: string, id: string): Promise<ResponsesAnswer | null> {
    const running = this.get(owner, id);
    if (running === null) return null;
    running.stop(new SomnusError("cancelled", "The response was cancelled."));
    return running.ended;
  }
}
