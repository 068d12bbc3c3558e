import type { HeicTask } from "./heic-worker.js";
import { inThread } from "./in-thread.js";

/** A picture as it was decoded: red, green, blue and alpha of each pixel, row by row. */
export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/**
 * Decodes the first picture of a HEIC file in a thread of its own, which is ended when it takes longer than
 * `timeoutMs`: its decoder cannot be interrupted.
 * @throws Error for a file that cannot be decoded, or has more than `maxPixels`; the signal's reason
 */
export function decodeHeic(
  bytes: Uint8Array,
  maxPixels: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Pixels> {
  const task: HeicTask = { bytes, maxPixels };
  return inThread(new URL("./heic-worker.js", import.meta.url), task, timeoutMs, signal);
}
