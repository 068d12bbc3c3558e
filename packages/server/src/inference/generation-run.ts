import type { Telemetry } from "@somnus/contract";
import type { GenerationEvent, GenerationRequest } from "../formats/index.js";
import type { Call } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { type Deadline, type Lease, withLease } from "../scheduling/index.js";
import { admit } from "./admission.js";
import { requireToolForm } from "./capabilities.js";
import { forModel } from "./for-model.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";

/** What a route has read of the request that it answers with a generation. */
export interface Asked {
  readonly generation: GenerationRequest;
  /** How long the model stays loaded afterwards, ms; null: as configured. */
  readonly keepAliveMs: number | null;
  readonly deadline: Deadline | undefined;
  /** Ends the generation, besides the call's own signal. */
  readonly signal?: AbortSignal;
}

/** One generation from its admission to its last event, in whatever format it was asked for. */
export class GenerationRun {
  readonly #request: GenerationRequest;
  readonly #signal: AbortSignal;
  #choice = 0;

  constructor(
    private readonly parts: InferenceParts,
    private readonly call: Call,
    private readonly model: PoolModel,
    private readonly asked: Asked,
  ) {
    const { generation, signal } = asked;
    this.#signal = signal ? AbortSignal.any([call.signal, signal]) : call.signal;
    this.#request = forModel(model, generation);
  }

  /** The choice that is being answered. */
  get choice(): number {
    return this.#choice;
  }

  /**
   * Joins the events into one answer.
   * @throws SomnusError when it is refused or fails, or the reason of the call's signal
   */
  whole<Answer>(
    write: (events: AsyncIterable<GenerationEvent>, telemetry: () => Telemetry) => Promise<Answer>,
  ): Promise<Answer> {
    return withLease(
      () => this.#admit(),
      this.#signal,
      (lease) => write(...this.#generation(lease)),
    );
  }

  /** The items that are made of the events, as they come. @throws as `whole` */
  async *streamed<Item>(
    write: (
      events: AsyncIterable<GenerationEvent>,
      telemetry: () => Telemetry,
    ) => AsyncGenerator<Item, void, void>,
  ): AsyncGenerator<Item, void, void> {
    const lease = await this.#admit();
    try {
      yield* write(...this.#generation(lease));
    } finally {
      lease.release();
    }
  }

  #admit(): Promise<Lease> {
    const { keepAliveMs, deadline } = this.asked;
    return admit(this.parts, this.call, this.model, this.#request, {
      keepAliveMs,
      deadline,
      signal: this.#signal,
    });
  }

  #generation(lease: Lease): [AsyncIterable<GenerationEvent>, () => Telemetry] {
    requireToolForm(this.model, this.#request, lease.facts);
    const recorder = new TelemetryRecorder(lease, this.model);
    const events = lease.generate(this.#request, this.#signal, (event) => {
      if ("choice" in event) this.#choice = event.choice;
      recorder.observe(event);
    });
    return [events, () => recorder.telemetry()];
  }
}
