import type { ModelTerms } from "../state/state.js";
import { memoryTerms } from "./host-memory.js";

/** A model of two slots and 8192 tokens, up to 16384, that stays loaded and weighs so much, fields on top. */
export function terms(id: string, weights: number, more: Partial<ModelTerms> = {}): ModelTerms {
  return {
    id,
    slots: 2,
    contextTokens: 8_192,
    maxContextTokens: 16_384,
    idleUnloadMs: Number.POSITIVE_INFINITY,
    memory: memoryTerms(id, weights),
    ...more,
  };
}
