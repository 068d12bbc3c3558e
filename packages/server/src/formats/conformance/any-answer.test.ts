import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FinishReason, GenerationEvent } from "../generation.js";
import { each, finish, joined, usage } from "./__fixtures__/events.js";
import { cut, FORMATS, type Format, framed, taken } from "./__fixtures__/formats.js";

const RUNS = 150;

const said = (blanks: boolean) =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
    .map((one) => (blanks ? one : `x${one}`));

const args = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((one) => JSON.stringify(one));

/** The events of one choice. */
function choiceOf(choice: number, blanks: boolean) {
  const piece = fc.oneof(
    said(blanks).map((text): GenerationEvent => ({ type: "text", choice, text })),
    said(blanks).map((text): GenerationEvent => ({ type: "reasoning", choice, text })),
    said(blanks).map((text): GenerationEvent => ({ type: "refusal", choice, text })),
    args.map(
      (text): GenerationEvent => ({
        type: "call",
        choice,
        call: { id: "", name: "f", arguments: text },
      }),
    ),
  );
  const ends = fc.constantFrom<FinishReason>("stop", "length", "content_filter");
  return fc.tuple(fc.array(piece, { maxLength: 8 }), ends).map(([pieces, end]) => {
    const numbered = pieces.map((event, at) =>
      event.type === "call" ? { ...event, call: { ...event.call, id: `c${choice}_${at}` } } : event,
    );
    const called = numbered.some(({ type }) => type === "call");
    const reason = called && end === "stop" ? "tool_calls" : end;
    return [...numbered, finish(reason, choice), usage({ completionTokens: choice + 1 }, choice)];
  });
}

/** Events of several choices, those of each in their order. */
const answerOf = ({ choices, blanks }: Format) =>
  fc
    .integer({ min: 1, max: choices })
    .chain((count) =>
      fc.tuple(...Array.from({ length: count }, (_, choice) => choiceOf(choice, blanks))),
    )
    .chain((all) =>
      fc.array(fc.nat(all.length - 1), { maxLength: 40 }).map((turns) => {
        const rest = all.map((events) => [...events]);
        const mixed = turns.flatMap((turn) => rest[turn]!.splice(0, 1));
        return { choices: all.length, events: [...mixed, ...rest.flat()] };
      }),
    );

const cutsOf = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 });

describe.each(FORMATS)("any answer as $name", (format) => {
  it("is read as it was written, however it was split", async () => {
    await fc.assert(
      fc.asyncProperty(answerOf(format), cutsOf, async ({ events, choices }, cuts) => {
        const bytes = framed(await format.stream(each(events), choices));
        const ends = cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b);
        const read = await taken(format.readStream(cut(bytes, ...ends)));
        const byChoice = (all: GenerationEvent[]) =>
          Array.from({ length: choices }, (_, choice) =>
            joined(all.filter((event) => "choice" in event && event.choice === choice)),
          );
        expect(byChoice(read)).toEqual(byChoice(format.carried(events)));
      }),
      { numRuns: RUNS },
    );
  });

  it("fails in one way only when any byte of it is another", async () => {
    await fc.assert(
      fc.asyncProperty(
        answerOf(format),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.nat(255),
        async ({ events, choices }, share, byte) => {
          const bytes = framed(await format.stream(each(events), choices));
          bytes[Math.floor(share * bytes.length)] = byte;
          try {
            const read = await taken(format.readStream(cut(bytes)));
            expect(read.some(({ type }) => type === "finish")).toBe(true);
          } catch (error) {
            expect(error).toHaveProperty("failure.kind");
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});
