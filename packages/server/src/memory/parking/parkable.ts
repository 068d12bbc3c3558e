import type { GgufSummary } from "../../gguf/index.js";
import { layerKinds } from "../estimate/layer-kinds.js";

/**
 * Why the slots of a model cannot be parked so that its answers stay the same, for people; null when they can.
 * By what llama-server (build 11434) writes of a slot and what it does with that later.
 */
export function whyNotParked(gguf: GgufSummary): string | null {
  const { layers, window, keepsKv, omissions } = layerKinds(gguf);
  if (!keepsKv) return "it keeps nothing between requests";
  if (window !== null) {
    // Also with the whole window kept (--swa-full): what is written of it leaves out the cells that the last token
    // does not see, and a conversation that goes on from an earlier point then misses them without notice.
    return "it has sliding-window layers, whose saved state does not give back every answer as it was";
  }
  if (layers.some(({ recurrent }) => recurrent)) {
    return "it has recurrent layers, whose state is saved for the last token alone";
  }
  if (omissions.length > 0) return "it keeps more than keys and values, which was not tried";
  return null;
}
