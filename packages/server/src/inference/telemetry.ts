import type { EngineTiming, Telemetry } from "@somnus/contract";
import type { EngineTimings, GenerationEvent } from "../formats/index.js";
import type { PoolModel } from "../models/index.js";
import type { Lease } from "../scheduling/index.js";
import { placementOf } from "./placement.js";

/** Measures one generation while it passes, and tells it in the form of the responses. */
export class TelemetryRecorder {
  readonly #startedAt = performance.now();
  #firstTokenAt: number | null = null;
  #cachedTokens: number | null = null;
  readonly #timings: EngineTimings[] = [];

  constructor(
    private readonly lease: Lease,
    private readonly model: PoolModel,
  ) {}

  /** To be called with every event when it comes. */
  observe(event: GenerationEvent): void {
    if (event.type === "text" || event.type === "reasoning" || event.type === "call") {
      this.#firstTokenAt ??= performance.now();
    } else if (event.type === "usage") {
      this.#cachedTokens ??= event.usage.cachedTokens;
      if (event.timings) this.#timings.push(event.timings);
    }
  }

  /** The same for work without events: what was measured of it. */
  computed(timings: EngineTimings): void {
    this.#timings.push(timings);
  }

  /** To be called when the last event has passed. */
  telemetry(): Telemetry {
    const { admission } = this.lease;
    const phases = admission.load;
    return {
      previous_tier: admission.previousTier,
      placement: placementOf(this.model, {
        facts: this.lease.facts,
        placement: admission.placement ?? null,
        keptBytes: admission.keptBytes,
      }),
      tier_switch_latency_ms: round(admission.loadMs),
      inference_latency_ms: round(performance.now() - this.#startedAt),
      evicted_models: [...(admission.evicted ?? [])],
      engine: this.#engine(),
      ...(phases
        ? {
            tier_switch_phases: {
              load_mode: phases.loadMode,
              ...known("weights_ms", phases.weightsMs),
              ...known("projector_ms", phases.projectorMs),
              ...known("context_ms", phases.contextMs),
              ...known("kv_restore_ms", admission.restored?.ms),
              ...known("kv_restored_tokens", admission.restored?.tokens),
              total_ms: round(phases.totalMs + (admission.restored?.ms ?? 0)),
            },
          }
        : {}),
    };
  }

  #engine(): EngineTiming {
    // The prompt is computed for the first choice; the others find it in the slot.
    const first = this.#timings[0];
    const decodeMs = sum(this.#timings.map((timing) => timing.decodeMs));
    const decodeTokens = sum(this.#timings.map((timing) => timing.decodeTokens));
    return {
      queue_ms: round(this.lease.admission.queueMs),
      ...known("prefill_ms", first?.prefillMs),
      ...known("decode_ms", decodeMs),
      ...known(
        "ttft_ms",
        this.#firstTokenAt === null ? undefined : this.#firstTokenAt - this.#startedAt,
      ),
      ...known("prefill_tokens_per_s", perSecond(first?.prefillTokens, first?.prefillMs)),
      ...known("decode_tokens_per_s", perSecond(decodeTokens, decodeMs)),
      ...(this.#cachedTokens === null ? {} : { cached_tokens: this.#cachedTokens }),
      concurrent_slots: this.lease.concurrentSlots,
    };
  }
}

function known<K extends string>(key: K, value: number | undefined): { [P in K]?: number } {
  return (value === undefined ? {} : { [key]: round(value) }) as { [P in K]?: number };
}

function perSecond(count: number | undefined, ms: number | undefined): number | undefined {
  return count === undefined || !ms ? undefined : (count / ms) * 1_000;
}

/** The sum, or undefined when one of the values was not measured. */
function sum(values: (number | undefined)[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((total, value) =>
    total === undefined || value === undefined ? undefined : total + value,
  );
}

/** To microseconds: what is finer is noise. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
