/** A piece of a file: first byte, and the byte after its last one. */
export type Range = readonly [start: number, end: number];

/** Sorted pieces that neither touch nor overlap. */
export type Ranges = readonly Range[];

/** The pieces with one more, joined where they touch. */
export function addRange(ranges: Ranges, [start, end]: Range): Range[] {
  if (end <= start) return [...ranges];
  const apart = ranges.filter((one) => one[1] < start || one[0] > end);
  const touching = ranges.filter((one) => one[1] >= start && one[0] <= end);
  const joined: Range = [
    Math.min(start, ...touching.map((one) => one[0])),
    Math.max(end, ...touching.map((one) => one[1])),
  ];
  return [...apart, joined].sort((a, b) => a[0] - b[0]);
}

/** What of the pieces lies before `end`. */
export function clipRanges(ranges: Ranges, end: number): Range[] {
  return ranges
    .filter((one) => one[0] < end)
    .map((one): Range => [one[0], Math.min(one[1], end)])
    .filter((one) => one[1] > one[0]);
}

/** What the pieces lack of a file of `size` bytes. */
export function missingRanges(ranges: Ranges, size: number): Range[] {
  const gaps: Range[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (start > at) gaps.push([at, start]);
    at = end;
  }
  if (size > at) gaps.push([at, size]);
  return gaps;
}

/** Bytes in all pieces together. */
export function rangeBytes(ranges: Ranges): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}

/** How far the file is whole from its beginning. */
export function wholeFromStart(ranges: Ranges): number {
  const [first] = ranges;
  return first?.[0] === 0 ? first[1] : 0;
}

/** The pieces cut into ones of at most `bytes`, in order. */
export function splitRanges(ranges: Ranges, bytes: number): Range[] {
  return ranges.flatMap(([start, end]) => {
    const pieces: Range[] = [];
    for (let at = start; at < end; at += bytes) pieces.push([at, Math.min(at + bytes, end)]);
    return pieces;
  });
}
