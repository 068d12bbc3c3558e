import type { PatternTree } from "./pattern-tree.js";

/** Lengths of texts, in characters. */
export interface Lengths {
  min: number;
  max: number;
}

/** The lengths of the texts that a pattern matches. */
export function lengthsOf(tree: PatternTree): Lengths {
  switch (tree.kind) {
    case "one of":
      return { min: 1, max: 1 };
    case "sequence":
      return tree.parts.map(lengthsOf).reduce(sum, { min: 0, max: 0 });
    case "choice": {
      const all = tree.options.map(lengthsOf);
      return {
        min: Math.min(...all.map(({ min }) => min)),
        max: Math.max(...all.map(({ max }) => max)),
      };
    }
    case "repeat": {
      const { min, max } = lengthsOf(tree.of);
      return { min: min * tree.min, max: max === 0 || tree.max === 0 ? 0 : max * tree.max };
    }
  }
}

function sum(a: Lengths, b: Lengths): Lengths {
  return { min: a.min + b.min, max: a.max + b.max };
}

/**
 * The pattern with as many of its texts as can be told that have these lengths: what repeats single characters is
 * repeated more or less often. Where that is not enough, longer or shorter texts still match.
 */
export function withLengths(tree: PatternTree, wanted: Lengths): PatternTree {
  const parts = tree.kind === "sequence" ? [...tree.parts] : [tree];
  const own = lengthsOf({ kind: "sequence", parts });
  const loose = parts.flatMap((part, at) =>
    part.kind === "repeat" && part.max > part.min && isSingle(part.of) ? [at] : [],
  );
  const others = parts.every((part, at) => {
    const { min, max } = lengthsOf(part);
    return min === max || loose.includes(at);
  });
  if (loose.length === 0 || !others) return tree;
  let room = wanted.max - own.min;
  let lack = Math.max(0, wanted.min - own.min);
  for (const [nth, at] of loose.entries()) {
    const part = parts[at] as Extract<PatternTree, { kind: "repeat" }>;
    const isLast = nth === loose.length - 1;
    const more = isLast ? room : Math.floor(room / (loose.length - nth));
    const max = Math.max(part.min, Math.min(part.max, part.min + more));
    room -= max - part.min;
    const min = Math.min(max, part.min + lack);
    lack -= min - part.min;
    parts[at] = { ...part, min, max };
  }
  return { kind: "sequence", parts };
}

function isSingle(tree: PatternTree): boolean {
  const { min, max } = lengthsOf(tree);
  return min === 1 && max === 1;
}
