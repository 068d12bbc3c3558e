import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyRequest } from "./__fixtures__/conversations.js";
import { FORMATS } from "./__fixtures__/formats.js";
import { comparable } from "./__fixtures__/normal-requests.js";

const RUNS = 200;

describe.each(FORMATS)("any conversation as $name", (format) => {
  it("is read as it was written, as far as the format can carry it", () => {
    fc.assert(
      fc.property(anyRequest(format), (request) => {
        const { body } = format.write(request);
        expect(comparable(format.read(body))).toEqual(format.normal(request));
      }),
      { numRuns: RUNS },
    );
  });

  it("is the same in every byte when it is written of what was read", () => {
    fc.assert(
      fc.property(anyRequest({ ...format, blanks: true }), (request) => {
        const once = format.read(format.write(request).body);
        const again = format.read(format.write(once).body);
        expect(JSON.stringify(comparable(again))).toBe(JSON.stringify(comparable(once)));
        expect(format.write(once).body).toEqual(format.write(again).body);
      }),
      { numRuns: RUNS },
    );
  });

  it("says of everything that it leaves out that it did", () => {
    fc.assert(
      fc.property(anyRequest(format), (request) => {
        const { body, dropped } = format.write(request);
        const read = format.read(body);
        const { messages: _, sampling, ...rest } = request;
        const given = { ...rest, ...sampling };
        const back = { ...read, ...read.sampling } as Record<string, unknown>;
        for (const [field, value] of Object.entries(given)) {
          const same = JSON.stringify(back[field]) === JSON.stringify(value);
          if (!same)
            expect(dropped).toContain(
              field === "thinkBudgetTokens" && dropped.includes("think") ? "think" : field,
            );
        }
      }),
      { numRuns: RUNS },
    );
  });
});
