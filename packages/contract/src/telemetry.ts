import Type, { type Static } from "typebox";
import { Schema } from "./schema.js";
import { MemoryTier, Placement } from "./tiers.js";

const ms = (description: string) => Type.Optional(Type.Number({ description }));

/** Timings of the engine, each present only when it was measured. Durations are milliseconds. */
export const EngineTiming = Schema(
  Type.Object(
    {
      queue_ms: ms("Waited for a free slot."),
      context_ms: ms("Spent on building a context."),
      prefill_ms: ms("Spent on the prompt."),
      decode_ms: ms("Spent on generating."),
      ttft_ms: ms("From the start of the engine call to the first token."),
      prefill_tokens_per_s: ms("Prompt tokens a second."),
      decode_tokens_per_s: ms("Generated tokens a second."),
      cached_tokens: Type.Optional(
        Type.Integer({ description: "Prompt tokens taken from the slot's KV cache." }),
      ),
      concurrent_slots: Type.Optional(
        Type.Integer({ description: "Slots busy at most while this request ran." }),
      ),
    },
    { $id: "EngineTiming" },
  ),
);
export type EngineTiming = Static<typeof EngineTiming>;

/** How long each phase of a load took, on the request that caused it. */
export const TierSwitchPhases = Schema(
  Type.Object(
    {
      load_mode: Type.String({ description: "mmap or read" }),
      weights_ms: ms("Reading the weights."),
      projector_ms: ms("Reading the projector."),
      context_ms: ms("Allocating the context."),
      kv_restore_ms: ms("Bringing parked conversations back."),
      kv_restored_tokens: Type.Optional(
        Type.Integer({ description: "Tokens of the conversations that came back." }),
      ),
      total_ms: Type.Number(),
    },
    { $id: "TierSwitchPhases" },
  ),
);
export type TierSwitchPhases = Static<typeof TierSwitchPhases>;

/** What the server did for one request and how long it took. */
export const Telemetry = Schema(
  Type.Object(
    {
      previous_tier: MemoryTier,
      placement: Placement,
      tier_switch_latency_ms: Type.Number(),
      inference_latency_ms: Type.Number(),
      evicted_models: Type.Array(Type.String()),
      engine: EngineTiming,
      tier_switch_phases: Type.Optional(TierSwitchPhases),
    },
    { $id: "Telemetry" },
  ),
);
export type Telemetry = Static<typeof Telemetry>;
