import { setTimeout as pause } from "node:timers/promises";
import type { MemoryState } from "./scheduling/index.js";

/** How long a driver may take to free what an ended process held, ms. */
const PATIENCE_MS = 2_000;
/** Between two readings, ms. */
const PAUSE_MS = 50;
/** By so much two readings of a device that nothing happens on may differ, bytes. */
const JITTER_BYTES = 64 * 2 ** 20;

/**
 * Waits until devices have given back what an engine that has ended held there, at most two seconds: after
 * that their word counts, and what is still used belongs to somebody else.
 * @param before what was planned with while the engine ran; null when nothing was
 * @param measure what to plan with now, the engine's booking left out
 * @returns the last measurement; null where there is no device, or none was made
 * @throws nothing but what `measure` throws for another reason than the time being over
 */
export async function untilReleased(
  before: Pick<MemoryState, "budgets"> | null,
  measure: (signal: AbortSignal) => Promise<MemoryState>,
  signal: AbortSignal,
): Promise<MemoryState | null> {
  if (before === null || before.budgets.devices.length === 0) return null;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  let last: MemoryState | null = null;
  try {
    for (;;) {
      last = await measure(limit);
      if (agree(before, last)) return last;
      await pause(PAUSE_MS, undefined, { signal: limit });
    }
  } catch (error) {
    if (limit.aborted) return last;
    throw error;
  }
}

/** Whether no device has more in use that no model explains than before. */
function agree(before: Pick<MemoryState, "budgets">, now: MemoryState): boolean {
  return now.budgets.devices.every(({ name, unaccountedBytes }, at) => {
    const known = before.budgets.devices[at];
    return known?.name !== name || unaccountedBytes <= known.unaccountedBytes + JITTER_BYTES;
  });
}
