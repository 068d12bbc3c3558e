/** Longer words are like nothing: the cost grows with the square of the length. */
const MAX_LENGTH = 128;

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`
 * (optimal string alignment distance), case left aside.
 */
export function editDistance(a: string, b: string): number {
  const from = a.toLowerCase();
  const to = b.toLowerCase();
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
  if (word.length > MAX_LENGTH) return null;
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 4)) + 1;
  for (const candidate of candidates) {
    // The distance is at least the difference in length.
    const atLeast = Math.abs(candidate.length - word.length);
    if (candidate.length > MAX_LENGTH || atLeast >= bestDistance) continue;
    const distance = editDistance(word, candidate);
    // To a short word nearly everything is near; at least half of it must have been right.
    if (distance < bestDistance && distance * 2 <= Math.max(word.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
