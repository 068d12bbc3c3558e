import { describe, expect, it } from "vitest";
import { LineRing, LineSplitter } from "./line-ring.js";

function split(pieces: Buffer[], longest = 20): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(longest, (line) => lines.push(line));
  for (const piece of pieces) splitter.write(piece);
  splitter.end();
  return lines;
}

describe("LineSplitter", () => {
  it("gives the same lines wherever the bytes are cut", () => {
    const bytes = Buffer.from("erste Zeile\r\nzweite: ä€😀\n\nRest");
    const whole = ["erste Zeile", "zweite: ä€😀", "", "Rest"];
    for (let at = 0; at <= bytes.length; at++) {
      expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
  });

  it("cuts a line that never ends and drops its rest", () => {
    const endless = Buffer.from("x".repeat(15));
    expect(split([endless, endless, endless, Buffer.from("tail\nnext\n")])).toEqual([
      `${"x".repeat(20)}…`,
      "next",
    ]);
  });

  it("cuts a long line that arrives whole", () => {
    expect(split([Buffer.from(`${"y".repeat(50)}\n`)])).toEqual([`${"y".repeat(20)}…`]);
  });
});

describe("LineRing", () => {
  it("keeps the newest lines only", () => {
    const ring = new LineRing({ lines: 3, characters: 1000, lineCharacters: 100 });
    for (const line of ["a", "b", "c", "d"]) ring.add(line);
    expect(ring.last()).toEqual(["b", "c", "d"]);
    expect(ring.last(1)).toEqual(["d"]);
  });

  it("is bounded in characters", () => {
    const ring = new LineRing({ lines: 100, characters: 10, lineCharacters: 100 });
    for (const line of ["12345", "67890", "x"]) ring.add(line);
    expect(ring.last()).toEqual(["67890", "x"]);
  });
});
