/** Longer words are compared by their start only: a hostile key must not cost quadratic time. */
const MAX_COMPARED = 64;

/** Nobody meant a name when writing something longer. */
const MAX_MEANT = 256;

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`
 * (optimal string alignment distance), case left aside.
 */
export function editDistance(a: string, b: string): number {
  const from = a.slice(0, MAX_COMPARED).toLowerCase();
  const to = b.slice(0, MAX_COMPARED).toLowerCase();
  let older: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const current = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = previous[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      let least = Math.min(previous[j]! + 1, current[j - 1]! + 1, replaced);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, older[j - 2]! + 1);
      }
      current.push(least);
    }
    older = previous;
    previous = current;
  }
  return previous[to.length]!;
}

/** The candidate most like `word`, or null when none is like enough to be what was meant. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_MEANT) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 4)) + 1;
  for (const candidate of candidates) {
    // Of a short word nearly everything is near; half of it at least must have been right.
    if (bestDistance === 0) break;
    const distance = editDistance(word, candidate);
    if (distance < bestDistance && distance * 2 <= Math.max(word.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
