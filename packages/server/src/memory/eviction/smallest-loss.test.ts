import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, chooseVictims, type Ground } from "./choose-victims.js";

/** A ground of one or two memories with so much missing; what candidates give back is listed for each. */
function ground(missing: readonly number[], gives: readonly (readonly number[])[]) {
  const out = new Set<number>();
  const made: Ground = {
    evict: (i) => out.add(i),
    restore: (i) => out.delete(i),
    fits: () =>
      missing.every((bytes, place) => {
        let freed = 0;
        for (const i of out) freed += gives[i]![place]!;
        return freed >= bytes;
      }),
  };
  return { made, out };
}

/** The loss of the best set, found by trying all: by rank from the highest down. Null: there is none. */
function bestLoss(candidates: readonly Candidate[], fits: (set: number) => boolean) {
  let best: number[] | null = null;
  for (let set = 0; set < 2 ** candidates.length; set++) {
    if (!fits(set)) continue;
    const loss = [3, 2, 1, 0].map((rank) =>
      candidates.reduce(
        (sum, one, i) => sum + (one.rank === rank && (set >> i) & 1 ? one.loss : 0),
        0,
      ),
    );
    if (best === null || before(loss, best)) best = loss;
  }
  return best;
}

function before(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}

const someone = fc.record({
  rank: fc.nat({ max: 3 }),
  loss: fc.integer({ min: 1, max: 50 }),
  gives: fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 20 })),
});

/** No two sets have the same loss, so that the best one is one. */
const candidatesOf = (all: readonly { rank: number; loss: number; gives: number[] }[]) =>
  all.map(({ rank, loss, gives }, i) => ({
    rank,
    loss: loss + 2 ** -(i + 1),
    bytes: 1 + gives[0]! + gives[1]!,
  }));

describe("the victims", () => {
  it("are the cheapest set there is, of the lowest ranks that are enough", () => {
    fc.assert(
      fc.property(
        fc.array(someone, { maxLength: 9 }),
        fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 60 })),
        (all, missing) => {
          const candidates = candidatesOf(all);
          const gives = all.map((one) => one.gives);
          const { made, out } = ground(missing, gives);
          const victims = chooseVictims(candidates, made);
          const best = bestLoss(candidates, (set) =>
            missing.every(
              (bytes, place) =>
                gives.reduce((sum, one, i) => sum + ((set >> i) & 1 ? one[place]! : 0), 0) >= bytes,
            ),
          );
          expect(out.size).toBe(0);
          if (best === null) {
            expect(victims).toBeNull();
            return;
          }
          const loss = [3, 2, 1, 0].map((rank) =>
            victims!.reduce(
              (sum, i) => sum + (candidates[i]!.rank === rank ? candidates[i]!.loss : 0),
              0,
            ),
          );
          expect(loss).toEqual(best);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("contain nobody who could stay, however many there are", () => {
    fc.assert(
      fc.property(
        fc.array(someone, { minLength: 20, maxLength: 40 }),
        fc.tuple(fc.nat({ max: 150 }), fc.nat({ max: 150 })),
        (all, missing) => {
          const { made, out } = ground(
            missing,
            all.map((one) => one.gives),
          );
          const victims = chooseVictims(candidatesOf(all), made);
          if (victims === null) return;
          for (const one of victims) made.evict(one);
          expect(made.fits()).toBe(true);
          for (const one of victims) {
            made.restore(one);
            expect(made.fits()).toBe(false);
            made.evict(one);
          }
          out.clear();
        },
      ),
      { numRuns: 300 },
    );
  });

  it("are none when there is enough, and null when all are too few", () => {
    const candidates = candidatesOf([{ rank: 1, loss: 1, gives: [5, 0] }]);
    expect(chooseVictims(candidates, ground([0, 0], [[5, 0]]).made)).toEqual([]);
    expect(chooseVictims(candidates, ground([6, 0], [[5, 0]]).made)).toBeNull();
  });
});
