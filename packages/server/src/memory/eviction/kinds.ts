/** Where a model's weights are: the first contract's `MemoryTier`. */
export type MemoryTier = "tier1_gpu_vram" | "tier2_pinned_ram" | "tier3_nvme_ssd";

/** Who stays when memory is short: the first contract's `ModelPriority`. */
export type Priority = "low" | "normal" | "high" | "realtime_pinned";

/** All priorities, those that go first at the front. */
export const PRIORITIES: readonly Priority[] = ["low", "normal", "high", "realtime_pinned"];

/** A priority as a number: a model goes for those of its own rank and above. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** Why a model had to go, as the first contract's `recent_evictions` spells it. */
export type EvictionReason =
  | "memory_budget"
  | "full_gpu_placement"
  | "process_memory_cap"
  | "device_out_of_memory";
