import type { EVICTION_REASONS, MemoryTier, MODEL_PRIORITIES } from "@somnus/contract";

/** Where a model's weights are. */
export type { MemoryTier };

/** Who stays when memory is short. */
export type Priority = (typeof MODEL_PRIORITIES)[number];

/** All priorities, those that go first at the front; no value of the contract's is to be imported here. */
const PRIORITIES: typeof MODEL_PRIORITIES = ["low", "normal", "high", "realtime_pinned"];

/** A priority as a number: a model goes for those of its own rank and above. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** Why a model had to go, as `recent_evictions` spells it. */
export type EvictionReason = (typeof EVICTION_REASONS)[number];
