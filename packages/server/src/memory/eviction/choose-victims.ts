/** Branches tried beyond the first guesses: enough for all sets of about nine models of one priority. */
const MOST_BRANCHES = 256;

/** A model that may go. */
export interface Candidate {
  /** Lower ranks go first, whatever they cost. */
  rank: number;
  /** What its absence costs; above 0. */
  loss: number;
  /** Memory that it gives back, all places together; only sets the order in which sets are tried. */
  bytes: number;
}

/** The memory for which victims are sought: candidates are taken out and put back by their index. */
export interface Ground {
  evict(candidate: number): void;
  restore(candidate: number): void;
  /** Whether there is enough now. More evictions never turn this from true to false. */
  fits(): boolean;
}

/**
 * The set of candidates to evict so that the ground fits: no higher rank goes where lower ones are
 * enough, and within a rank the sum of losses is smallest (exact while `MOST_BRANCHES` is not used up,
 * close to it beyond). No victim is superfluous. Null when evicting all is not enough.
 * The ground must have all candidates in place, and is left like that.
 */
export function chooseVictims(candidates: readonly Candidate[], ground: Ground): number[] | null {
  if (ground.fits()) return [];
  for (let i = 0; i < candidates.length; i++) ground.evict(i);
  let victims: number[] | null = null;
  if (ground.fits()) {
    victims = [];
    const ranks = [...new Set(candidates.map((one) => one.rank))].sort((a, b) => b - a);
    for (const rank of ranks) victims.push(...settleRank(candidates, rank, ground));
    for (const victim of victims) ground.restore(victim);
  } else {
    for (let i = 0; i < candidates.length; i++) ground.restore(i);
  }
  return victims?.sort((a, b) => a - b) ?? null;
}

/** Puts back what can stay of one rank, while all lower ranks are out; returns who cannot. */
function settleRank(candidates: readonly Candidate[], rank: number, ground: Ground): number[] {
  const members: number[] = [];
  for (let i = 0; i < candidates.length; i++) if (candidates[i]!.rank === rank) members.push(i);
  const lossOf = (i: number) => candidates[i]!.loss;
  const dearestFirst = [...members].sort((a, b) => lossOf(b) - lossOf(a) || a - b);
  const densestFirst = [...members].sort(
    (a, b) => lossOf(b) / candidates[b]!.bytes - lossOf(a) / candidates[a]!.bytes || a - b,
  );

  let best = keepInOrder(dearestFirst, ground);
  let bestLoss = sum(best, lossOf);
  const byDensity = keepInOrder(densestFirst, ground);
  if (sum(byDensity, lossOf) < bestLoss) {
    best = byDensity;
    bestLoss = sum(byDensity, lossOf);
  }

  // Everybody undecided is out, so a branch that does not fit here never will.
  let branches = 0;
  const gone: number[] = [];
  const descend = (depth: number, loss: number): void => {
    if (loss >= bestLoss || branches++ > MOST_BRANCHES) return;
    if (depth === dearestFirst.length) {
      best = [...gone];
      bestLoss = loss;
      return;
    }
    const one = dearestFirst[depth]!;
    ground.restore(one);
    if (ground.fits()) descend(depth + 1, loss);
    ground.evict(one);
    gone.push(one);
    descend(depth + 1, loss + lossOf(one));
    gone.pop();
  };
  if (best.length > 0) descend(0, 0);

  const out = new Set(best);
  for (const one of members) if (!out.has(one)) ground.restore(one);
  return dearestFirst.filter((one) => {
    if (!out.has(one)) return false;
    ground.restore(one);
    if (ground.fits()) return false;
    ground.evict(one);
    return true;
  });
}

/** Keeps one after another while it fits; returns those that had to go, and leaves all out. */
function keepInOrder(order: readonly number[], ground: Ground): number[] {
  const gone: number[] = [];
  const kept: number[] = [];
  for (const one of order) {
    ground.restore(one);
    if (ground.fits()) {
      kept.push(one);
    } else {
      ground.evict(one);
      gone.push(one);
    }
  }
  for (const one of kept) ground.evict(one);
  return gone;
}

function sum(members: readonly number[], of: (member: number) => number): number {
  let total = 0;
  for (const member of members) total += of(member);
  return total;
}
