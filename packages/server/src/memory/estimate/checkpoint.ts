import type { GgufSummary } from "../../gguf/index.js";
import type { Want } from "../estimate-types.js";
import { rowsOf, stateBytes } from "./kv-memory.js";
import type { LayerKinds } from "./layer-kinds.js";

/**
 * Bytes of one saved state of one slot: what cannot be rolled back, so the rows in the windows of layers that have
 * one and the states of recurrent ones (`create_checkpoint`, tools/server/server-context.cpp;
 * `llama_kv_cache_iswa::state_write` with LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY). 0 where nothing is saved: no such
 * layers, or windows kept at full length.
 */
export function checkpointBytes(gguf: GgufSummary, kinds: LayerKinds, want: Want): number {
  if (!kinds.keepsKv) return 0;
  const tokens = Math.min(kinds.window?.tokens ?? 0, want.contextTokens);
  const row = rowsOf(gguf, kinds, want);
  return kinds.layers.reduce((sum, kind, at) => {
    if (kind.recurrent) return sum + stateBytes(gguf);
    if (kind.attention !== "window" || want.fullSlidingWindow === true) return sum;
    return sum + tokens * row(kind, at);
  }, 0);
}
