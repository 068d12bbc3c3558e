import { describe, expect, it } from "vitest";
import { memoryTerms } from "../__fixtures__/host-memory.js";
import { type Coming, errorsOfWaits } from "../__fixtures__/line-of-requests.js";
import type { ModelTerms } from "../state/state.js";

const MODEL: ModelTerms = {
  id: "m",
  slots: 2,
  contextTokens: 262_144,
  maxContextTokens: 262_144,
  idleUnloadMs: Number.POSITIVE_INFINITY,
};

/** Numbers from 0 to 1, the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const exponential = (random: () => number, mean: number) => -mean * Math.log(1 - random());

/** Requests that keep `busy` slots busy, in the mean. */
function lineOf(
  count: number,
  one: (random: () => number) => Omit<Coming, "at">,
  busy = 1.8,
): Coming[] {
  const random = randomFrom(11);
  let at = 0;
  return Array.from({ length: count }, () => {
    const coming = one(random);
    at += exponential(random, coming.holdMs / busy);
    return { at, ...coming };
  });
}

const quantile = (values: number[], q: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(q * values.length)]!;

function report(name: string, errors: number[]): void {
  const percent = (q: number) => `${(100 * quantile(errors, q)).toFixed(0)} %`;
  console.log(`${name}: ${errors.length} waits, error p50 ${percent(0.5)}, p90 ${percent(0.9)}`);
}

describe("waits as told at arrival, against the real ones", () => {
  it("are less than a quarter off in the median for requests of fixed length", () => {
    const line = lineOf(500, (random) => ({
      promptBound: 400,
      maxTokens: 128,
      // Nothing takes the same time twice.
      holdMs: 1_000 * (0.9 + 0.2 * random()),
    }));
    const errors = errorsOfWaits([MODEL], line);
    report("fixed length", errors);
    expect(errors.length).toBeGreaterThan(150);
    expect(quantile(errors, 0.5)).toBeLessThan(0.25);
  });

  it.each([
    [2, 1_000, 1_000],
    [1, 1_000, 400],
    [2, 3_000, 800],
  ])(
    "are that also for two models that share the processor: slots %i, %i and %i ms",
    (slots, holdOfA, holdOfB) => {
      const shared = { ...MODEL, slots, heavy: true };
      const models = ["a", "b"].map((id) => ({ ...shared, id, memory: memoryTerms(id, 1_000) }));
      const line = lineOf(
        600,
        (random) => {
          const model = random() < 0.5 ? 0 : 1;
          const holdMs = (model === 0 ? holdOfA : holdOfB) * (0.9 + 0.2 * random());
          return { model, promptBound: 400, maxTokens: 128, holdMs };
        },
        slots * 0.75,
      );
      const errors = errorsOfWaits(models, line, { lane: true });
      report(`two models, ${slots} slots, ${holdOfA} and ${holdOfB} ms`, errors);
      expect(errors.length).toBeGreaterThan(150);
      expect(quantile(errors, 0.5)).toBeLessThan(0.25);
    },
  );

  it("are told apart for requests of different length", () => {
    const line = lineOf(800, (random) => {
      const kind = random();
      // A title, a chat, a document: 100 prompt tokens take 20 ms, a generated one takes 20 ms.
      const [prompt, maxTokens, answer] =
        kind < 0.4 ? [300, 16, 12] : kind < 0.8 ? [600, 512, 300] : [6_000, 1_024, 500];
      const generated = Math.min(maxTokens, Math.ceil(answer * (0.5 + random())));
      return { promptBound: prompt * 3, maxTokens, holdMs: prompt * 0.2 + generated * 20 };
    });
    const errors = errorsOfWaits([MODEL], line);
    report("mixed lengths", errors);
    expect(quantile(errors, 0.5)).toBeLessThan(0.5);
  });
});
