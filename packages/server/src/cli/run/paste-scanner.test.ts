import fc from "fast-check";
import { expect, test } from "vitest";
import { PasteScanner, type Piece } from "./paste-scanner.js";

const WIRE = "ab\u001b[200~one\ntwo\u001b[31m\u001b[201~c\u001b[A\u001b[200~\u001b[201~d";
const MEANING: Piece[] = [
  { kind: "keys", text: "ab" },
  { kind: "paste", text: "one\ntwo\u001b[31m" },
  { kind: "keys", text: "c\u001b[A" },
  { kind: "paste", text: "" },
  { kind: "keys", text: "d" },
];

test("keys and pastes are told apart however they are cut", () => {
  const cuts = fc.array(fc.nat(WIRE.length), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (at) => {
      const scanner = new PasteScanner();
      const bounds = [0, ...at.sort((a, b) => a - b), WIRE.length];
      const pieces = bounds.flatMap((from, i) => scanner.feed(WIRE.slice(from, bounds[i + 1])));
      const joined: Piece[] = [];
      for (const piece of pieces) {
        const last = joined.at(-1);
        if (piece.kind === "keys" && last?.kind === "keys") last.text += piece.text;
        else joined.push({ ...piece });
      }
      expect(joined).toEqual(MEANING);
    }),
  );
});

test("a lone Escape is a key once nothing follows it", () => {
  const scanner = new PasteScanner();
  expect(scanner.feed("\u001b")).toEqual([]);
  expect(scanner.holdsKeys).toBe(true);
  expect(scanner.release()).toEqual([{ kind: "keys", text: "\u001b" }]);
  expect(scanner.holdsKeys).toBe(false);
});
