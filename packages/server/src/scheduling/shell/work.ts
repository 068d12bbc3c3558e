import type { Loaded } from "../../engines/index.js";
import type { GenerationRequest } from "../../formats/index.js";
import { needOf } from "../decision/context-need.js";
import { type Outline, outlineOf } from "../state/outline.js";
import type { ContextNeed } from "../state/state.js";

/** What a model is wanted for, as far as it decides when that can be done, and in which slot. */
export interface Work {
  need: ContextNeed;
  /** Of the conversation; empty for work that leaves nothing behind in a slot. */
  outline: Outline;
  /** Has the engine count the prompt; null where the need says how many tokens it has. */
  count: ((loaded: Loaded, signal: AbortSignal) => Promise<number>) | null;
}

/** Answering a conversation. */
export function generationWork(request: GenerationRequest): Work {
  return {
    need: needOf(request),
    outline: outlineOf(request),
    count: (loaded, signal) => loaded.count(request, signal),
  };
}

/**
 * Computing inputs in rounds, each of which takes no more of the pool than is reserved: the longest input, or all
 * of them up to a slot's even share. So many inputs of one client leave room for another's few.
 * @param bounds tokens that each input has at most
 */
export function inputsWork(
  bounds: readonly number[],
  {
    contextTokens,
    maxContextTokens,
    slots,
  }: { contextTokens: number; maxContextTokens: number; slots: number },
): Work {
  const total = bounds.reduce((sum, bound) => sum + bound, 0);
  const share = Math.floor(contextTokens / slots);
  const reserved = Math.min(maxContextTokens, roundTokens(bounds, share));
  // The bound tells how much is to be done in all.
  return {
    need: { promptBound: total, promptTokens: reserved, maxTokens: 0 },
    outline: [],
    count: null,
  };
}

/** Tokens of one round: the longest input, or all of them up to `share`. */
export function roundTokens(inputs: readonly number[], share: number): number {
  let total = 0;
  let longest = 0;
  for (const tokens of inputs) {
    total += tokens;
    if (tokens > longest) longest = tokens;
  }
  return Math.max(longest, Math.min(total, share));
}

/** Asking the model's tokenizer: it takes a slot, so that the model stays, and no context. */
export const TOKENIZER_WORK: Work = {
  need: { promptBound: 0, maxTokens: 0, asked: 0 },
  outline: [],
  count: null,
};
