import type { EvictionReason, MemoryTier } from "../../memory/index.js";

/** Why a model is unloaded to make room. */
export interface EvictedFor {
  forModel: string;
  reason: EvictionReason;
  toTier: MemoryTier;
}
