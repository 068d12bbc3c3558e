import type { Telemetry } from "@somnus/contract";
import type { AskedGeneration, GenerationEvent, GenerationRequest } from "../formats/index.js";
import { type Call, SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { type Deadline, type Lease, withLease } from "../scheduling/index.js";
import { admit } from "./admission.js";
import { requireToolForm } from "./capabilities.js";
import { forModel } from "./for-model.js";
import { withMedia } from "./media.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";
import { wholeJson } from "./whole-json.js";

/** What a route has read of the request that it answers with a generation. */
export interface Asked {
  readonly generation: AskedGeneration;
  /** How long the model stays loaded afterwards, ms; null: as configured. */
  readonly keepAliveMs: number | null;
  readonly deadline: Deadline | undefined;
  /** Ends the generation, besides the call's own signal. */
  readonly signal?: AbortSignal;
  /** Whether JSON that is cut by the limit of tokens is an answer of this format; else it is an error. */
  readonly mayBeCut?: boolean;
  /** The field that holds the prompt; absent: the messages. */
  readonly field?: string;
  /** What has to be asked of the model before it generates. */
  readonly before?: (lease: Lease, signal: AbortSignal) => Promise<void>;
}

/** The same error about a prompt that is too long, where the prompt does not stand in messages. */
function namingField(error: unknown, param: string): unknown {
  if (!(error instanceof SomnusError) || error.param !== "messages") return error;
  return new SomnusError(error.code, error.message, { param, cause: error });
}

/** One generation from its admission to its last event, in whatever format it was asked for. */
export class GenerationRun {
  readonly #signal: AbortSignal;
  #choice = 0;

  constructor(
    private readonly parts: InferenceParts,
    private readonly call: Call,
    private readonly model: PoolModel,
    private readonly asked: Asked,
  ) {
    const { signal } = asked;
    this.#signal = signal ? AbortSignal.any([call.signal, signal]) : call.signal;
  }

  /** The choice that is being answered. */
  get choice(): number {
    return this.#choice;
  }

  /**
   * Joins the events into one answer.
   * @throws SomnusError when it is refused or fails, or the reason of the call's signal
   */
  async whole<Answer>(
    write: (events: AsyncIterable<GenerationEvent>, telemetry: () => Telemetry) => Promise<Answer>,
  ): Promise<Answer> {
    const request = await this.#read();
    return withLease(
      () => this.#admit(request),
      this.#signal,
      async (lease) => {
        await this.asked.before?.(lease, this.#signal);
        return write(...this.#generation(lease, request));
      },
    );
  }

  /** The items that are made of the events, as they come. @throws as `whole` */
  async *streamed<Item>(
    write: (
      events: AsyncIterable<GenerationEvent>,
      telemetry: () => Telemetry,
    ) => AsyncGenerator<Item, void, void>,
  ): AsyncGenerator<Item, void, void> {
    const request = await this.#read();
    const lease = await this.#admit(request);
    const { signal } = this.asked;
    // Who reads the events may be stuck in the middle of them.
    const onStop = () => lease.release();
    signal?.addEventListener("abort", onStop, { once: true });
    try {
      await this.asked.before?.(lease, this.#signal);
      yield* write(...this.#generation(lease, request));
    } finally {
      signal?.removeEventListener("abort", onStop);
      lease.release();
    }
  }

  async #read(): Promise<GenerationRequest> {
    return forModel(this.model, await withMedia(this.parts, this.asked.generation, this.#signal));
  }

  async #admit(request: GenerationRequest): Promise<Lease> {
    const { keepAliveMs, deadline, field } = this.asked;
    try {
      return await admit(this.parts, this.call, this.model, request, {
        keepAliveMs,
        deadline,
        signal: this.#signal,
      });
    } catch (error) {
      throw field === undefined ? error : namingField(error, field);
    }
  }

  #generation(
    lease: Lease,
    request: GenerationRequest,
  ): [AsyncIterable<GenerationEvent>, () => Telemetry] {
    requireToolForm(this.model, request, lease.facts);
    const recorder = new TelemetryRecorder(lease, this.model);
    const events = lease.generate(request, this.#signal, (event) => {
      if ("choice" in event) this.#choice = event.choice;
      recorder.observe(event);
    });
    const { json } = request;
    const { mayBeCut = false } = this.asked;
    return [json ? wholeJson(events, json, mayBeCut) : events, () => recorder.telemetry()];
  }
}
