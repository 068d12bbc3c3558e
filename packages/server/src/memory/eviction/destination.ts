/** A victim that would be kept in tier 2 if there is room. */
export interface Leaving {
  /** What it costs if it is not kept. */
  loss: number;
  /** Pages that it would take of the tier. */
  keptBytes: number;
  keepWarm: boolean;
}

/**
 * Which of the leaving models stay in tier 2: those with `keepWarm` that fit, the ones whose loss is
 * dearest first. `takes` tells whether the host has room for a leaving model (by its index) as well, and
 * if so holds it for it.
 */
export function keptWarm(
  leaving: readonly Leaving[],
  tier2FreeBytes: number,
  takes: (index: number) => boolean,
): Set<number> {
  const dearestFirst = [...leaving.keys()].sort(
    (a, b) => leaving[b]!.loss - leaving[a]!.loss || a - b,
  );
  const kept = new Set<number>();
  let free = tier2FreeBytes;
  for (const index of dearestFirst) {
    const { keepWarm, keptBytes } = leaving[index]!;
    if (!keepWarm || keptBytes > free || !takes(index)) continue;
    free -= keptBytes;
    kept.add(index);
  }
  return kept;
}
