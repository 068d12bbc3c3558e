import fc from "fast-check";
import { expect, it } from "vitest";
import {
  addRange,
  clipRanges,
  missingRanges,
  type Range,
  rangeBytes,
  splitRanges,
  wholeFromStart,
} from "./ranges.js";

const SIZE = 60;
const range = fc
  .tuple(fc.nat({ max: SIZE }), fc.nat({ max: SIZE }))
  .map(([a, b]): Range => [Math.min(a, b), Math.max(a, b)]);
const bytesOf = (ranges: readonly Range[]) => {
  const all = new Set<number>();
  for (const [start, end] of ranges) for (let at = start; at < end; at += 1) all.add(at);
  return all;
};

it("pieces hold exactly the bytes that were added, sorted and apart", () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), fc.nat({ max: SIZE }), (added, end) => {
      const ranges = added.reduce<Range[]>((all, one) => addRange(all, one), []);
      const bytes = bytesOf(added);
      expect(bytesOf(ranges)).toEqual(bytes);
      expect(rangeBytes(ranges)).toBe(bytes.size);
      for (const [index, [start]] of ranges.entries()) {
        if (index > 0) expect(start).toBeGreaterThan(ranges[index - 1]?.[1] ?? SIZE);
      }
      let whole = 0;
      while (bytes.has(whole)) whole += 1;
      expect(wholeFromStart(ranges)).toBe(whole);
      expect(bytesOf(clipRanges(ranges, end))).toEqual(
        new Set([...bytes].filter((byte) => byte < end)),
      );
      const missing = missingRanges(ranges, SIZE);
      expect(rangeBytes(missing) + bytes.size).toBe(SIZE);
      expect([...bytesOf(missing)].some((byte) => bytes.has(byte))).toBe(false);
    }),
  );
});

it("pieces are cut into smaller ones without a gap", () => {
  expect(
    splitRanges(
      [
        [0, 10],
        [12, 13],
      ],
      4,
    ),
  ).toEqual([
    [0, 4],
    [4, 8],
    [8, 10],
    [12, 13],
  ]);
});
