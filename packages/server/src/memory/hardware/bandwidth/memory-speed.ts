import { setImmediate as turn } from "node:timers/promises";
import { takeBlocks } from "./blocks.js";

const MiB = 2 ** 20;
/** Worked on at once; between two, others have their turn. */
const SLICE = 4 * MiB;
/** Large enough that most processors' caches do not hold it. */
const LENGTH = 128 * MiB;
/** Under this a cache would be measured. */
const LEAST = 64 * MiB;
/** The part of the available memory that a measurement may take. */
const SHARE = 1 / 16;
const PASSES = 3;

/**
 * Bytes a second at which one thread reads resident memory, the best of three passes: a search for a
 * byte that is not there. Null where too little memory is available to measure it.
 * @throws the signal's reason when it fires
 */
export async function memoryBytesPerSecond(
  availableBytes: number | null,
  signal: AbortSignal,
): Promise<number | null> {
  const allowed = availableBytes === null ? LENGTH : availableBytes * SHARE;
  const length = Math.min(LENGTH, Math.floor(allowed / SLICE) * SLICE);
  if (length < LEAST) return null;
  const blocks = takeBlocks(length);
  try {
    const slices = Array.from({ length: length / SLICE }, (_, i) =>
      Buffer.from(blocks.bytes.buffer, i * SLICE, SLICE),
    );
    for (const slice of slices) {
      slice.fill(1);
      await turn(undefined, { signal });
    }
    let best = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < PASSES; pass++) {
      let ms = 0;
      for (const slice of slices) {
        const begun = performance.now();
        slice.indexOf(0);
        ms += performance.now() - begun;
        await turn(undefined, { signal });
      }
      best = Math.min(best, ms);
    }
    return (length / best) * 1_000;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    blocks.free();
  }
}
