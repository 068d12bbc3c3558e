import { requireSpace } from "../free-space.js";
import type { Limits } from "../limits.js";
import { type Range, splitRanges } from "../part/ranges.js";
import { type Answer, provesContent } from "./answer.js";
import type { Receiving } from "./receiving.js";
import { StartOver } from "./start-over.js";

const MAX_PIECES = 4096;

/** What to ask for first (null: the whole file, without naming a piece), what then, and over how many connections. */
export interface Plan {
  first: Range | null;
  rest: Range[];
  connections: number;
}

/** Null when nothing lacks. */
export function planOf({ part, mode, attempt: { limits } }: Receiving): Plan | null {
  const { size } = part.expected;
  const large = size === null || size - part.done >= limits.parallelFrom;
  const split = mode.ranges && mode.connections > 1 && large;
  if (size === null) {
    const end = split ? part.whole + limits.segment : Number.POSITIVE_INFINITY;
    const fresh = !split && part.done === 0;
    return { first: fresh ? null : [part.whole, end], rest: [], connections: mode.connections };
  }
  if (part.done === 0 && !split) return { first: null, rest: [], connections: 1 };
  const gaps = part.missing();
  const [first, ...rest] = split ? splitRanges(gaps, segmentOf(size, limits)) : gaps;
  return first ? { first, rest, connections: split ? mode.connections : 1 } : null;
}

/** The pieces that are still to be asked for after the first one came like this. */
export async function restOf(
  { part, attempt }: Receiving,
  { first, rest }: Plan,
  { range, size }: Extract<Answer, { kind: "piece" }>,
): Promise<Range[]> {
  if (part.expected.size === null) {
    // The first piece told how much there is.
    if (size === null) {
      throw new StartOver("the server does not say how long the file is", "ranges");
    }
    await requireSpace([{ dir: attempt.dir, bytes: size - part.done }]);
    return splitRanges([[range[1], size]], segmentOf(size, attempt.limits));
  }
  return first && range[1] < first[1] ? [[range[1], first[1]], ...rest] : rest;
}

/** What one request asks for: a share of the file that keeps their number small. */
function segmentOf(size: number, { segment }: Limits): number {
  return Math.max(segment, Math.ceil(size / MAX_PIECES));
}

/** Without a hash at the end, bytes may be continued only where the server can say that it is the same file. */
export function canContinue({ part, mode }: Receiving): boolean {
  if (!mode.ranges) return false;
  return part.expected.sha256 !== null || (mode.validators && provesContent(part.validator));
}
