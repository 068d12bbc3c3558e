import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { RUNS } from "../__fixtures__/runs.js";
import { stepsAbout, take } from "../__fixtures__/steps.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms } from "../state/state.js";
import { PATIENCE_MS } from "../state/waiting.js";

const BUDGET = 100_000;

const MODELS = [
  terms("a", 50_000),
  terms("b", 40_000),
  terms("c", 30_000, { slots: 1, idleUnloadMs: 3_000 }),
  terms("d", 70_000),
  terms("e", 10_000, { memory: memoryTerms("e", 10_000, "low") }),
  terms("high", 45_000, { memory: memoryTerms("high", 45_000, "high") }),
  terms("too-large", 120_000),
];
const [A, B, , D, , HIGH, TOO_LARGE] = MODELS as [
  ModelTerms,
  ModelTerms,
  ModelTerms,
  ModelTerms,
  ModelTerms,
  ModelTerms,
  ModelTerms,
];

function world(bytes = BUDGET): World {
  const made = new World(hostMemory(bytes));
  made.checkMemory = () => {
    let booked = 0;
    for (const model of made.state.models.values()) {
      expect(model.placement !== null).toBe(model.phase !== "unloaded");
      booked += model.placement?.hostBytes ?? 0;
    }
    expect(booked).toBeLessThanOrEqual(bytes);
  };
  return made;
}

const pending = (made: World) =>
  made.pending.map(({ effect }) => ("model" in effect ? `${effect.type} ${effect.model}` : ""));

describe("memory", () => {
  it("keeps its promises for any order of events, on a budget that does not hold all", () => {
    const model = fc.nat(MODELS.length - 1);
    const { settle, finish, next, cancel, crash, ask, unask, unload, tick, drain } = stepsAbout(
      MODELS.length,
    );
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant("arrive" as const),
          model,
          bound: fc.integer({ min: 1, max: 20_000 }),
          max: fc.integer({ min: 1, max: 4_096 }),
          keep: fc.option(fc.constantFrom(0, 500, Number.POSITIVE_INFINITY)),
          deadline: fc.option(fc.nat(3_000), { nil: undefined }),
        }),
      },
      { weight: 6, arbitrary: settle(3) },
      { weight: 5, arbitrary: finish },
      { weight: 3, arbitrary: next },
      { weight: 2, arbitrary: cancel },
      { weight: 1, arbitrary: crash },
      {
        weight: 2,
        arbitrary: ask(fc.option(fc.integer({ min: 1, max: 18_000 }), { nil: undefined })),
      },
      { weight: 1, arbitrary: unask },
      { weight: 1, arbitrary: unload },
      { weight: 3, arbitrary: tick(4_000) },
      { weight: 1, arbitrary: drain(20) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const made = world();
        for (const s of steps) {
          made.at += 10;
          if (s.do === "arrive")
            made.arrive(MODELS[s.model]!, s.bound, s.max, undefined, s.keep, {
              deadlineMs: s.deadline,
            });
          else take(made, MODELS, s);
        }
        made.settleAll();
        expect(made.open.size).toBe(0);
        expect(made.state.requests.size).toBe(0);
        expect(made.state.prefetches.size).toBe(0);
        expect(made.ended.size).toBe(made.nextRequest - 1);
        for (const left of made.state.models.values()) {
          expect(left).toMatchObject({ yieldsTo: null, askedAt: null, askedContext: null });
          expect(left.madeRoom).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  }, 1_200_000);

  it("unloads an idle model for one that is asked for, and says for whom", () => {
    const made = world();
    made.serve(A);
    const second = made.arrive(D, 100, 16);
    expect(made.pending[0]!.effect).toMatchObject({
      type: "unload",
      model: "a",
      evicted: { forModel: "d", reason: "memory_budget", toTier: "tier3_nvme_ssd" },
    });
    made.settle(0, true);
    expect(pending(made)).toEqual(["load d"]);
    made.settle(0, true);
    expect(made.running.has(second)).toBe(true);
  });

  it("waits for a model in use, and takes its memory when it is idle", () => {
    const made = world();
    const first = made.arrive(A, 100, 16);
    made.settle(0, true);
    const second = made.arrive(D, 100, 16);
    expect(pending(made)).toEqual([]);
    expect(made.ended.has(second)).toBe(false);
    made.finish(first);
    expect(pending(made)).toEqual(["unload a"]);
  });

  it("keeps a model that others wait for, until the one that wants its memory has lost patience", () => {
    const made = world();
    const running = [made.arrive(A, 100, 16), made.arrive(A, 100, 16)];
    made.settle(0, true);
    const other = made.arrive(D, 100, 16);
    made.at += 1;
    const later = made.arrive(A, 100, 16);
    made.finish(running[0]!);
    // There is a free slot, and nobody has waited long.
    expect(made.running.has(later)).toBe(true);
    const last = made.arrive(A, 100, 16);
    made.at += PATIENCE_MS;
    made.send({ type: "tick" });
    made.finish(running[1]!);
    expect(made.running.has(last)).toBe(false);
    made.finish(later);
    expect(pending(made)).toEqual(["unload a"]);
    made.settle(0, true);
    expect(pending(made)).toEqual(["load d"]);
    made.settle(0, true);
    expect(made.running.has(other)).toBe(true);
    made.finish(other);
    // The one that made room has waited longest now, and the other is idle.
    expect(pending(made)).toEqual(["unload d"]);
  });

  it("serves all that wait for a model before it goes", () => {
    const made = world();
    const a = made.arrive(A, 100, 16);
    made.settle(0, true);
    const forD = [made.arrive(D, 100, 16), made.arrive(D, 100, 16)];
    made.at += 1;
    made.finish(a);
    const again = made.arrive(A, 100, 16);
    made.settle(0, true);
    made.settle(0, true);
    expect(forD.every((id) => made.running.has(id))).toBe(true);
    made.finish(forD[0]!);
    expect(pending(made)).toEqual([]);
    made.finish(forD[1]!);
    expect(pending(made)).toEqual(["unload d"]);
    made.settleAll();
    expect(made.ended.get(again)).toBe("done");
  });

  it("does not let one behind overtake who has waited long for memory", () => {
    const made = world();
    const a = made.arrive(A, 100, 16);
    made.settle(0, true);
    const d = made.arrive(D, 100, 16);
    made.at += PATIENCE_MS;
    made.send({ type: "tick" });
    const b = made.arrive(B, 100, 16);
    // It would fit beside the one that runs, but then the one before it would wait for both.
    expect(pending(made)).toEqual([]);
    made.finish(a);
    made.settle(0, true);
    made.settle(0, true);
    expect(made.running.has(d)).toBe(true);
    made.finish(d);
    made.settleAll();
    expect(made.ended.get(b)).toBe("done");
  });

  it("refuses at once what can never fit, with the planner's reason", () => {
    const made = world();
    const request = made.arrive(TOO_LARGE, 100, 16);
    expect(made.ended.get(request)).toBe("insufficient_memory");
    expect(made.state.models.get("too-large")!.failure?.message).toBe("there is no room.");
    // Nothing rests: another budget, another answer.
    made.send({ type: "memoryMeasured", memory: hostMemory(1_000_000) });
    made.checkMemory = () => {};
    const again = made.arrive(TOO_LARGE, 100, 16);
    made.settle(0, true);
    expect(made.running.has(again)).toBe(true);
  });

  it("leaves a model of higher priority alone, also an idle one", () => {
    const made = world();
    made.serve(HIGH);
    const request = made.arrive(D, 100, 16);
    expect(pending(made)).toEqual([]);
    expect(made.ended.get(request)).toBe("insufficient_memory");
  });

  it("loads with the context that there is room for", () => {
    const made = world(53_000);
    const request = made.arrive(A, 100, 16);
    expect(made.pending[0]!.effect).toMatchObject({ type: "load", contextTokens: 3_000 });
    made.settle(0, true);
    expect(made.running.has(request)).toBe(true);
  });

  it("does without a larger pool that there is no memory for", () => {
    const made = world(62_000);
    made.serve(A);
    const large = made.arrive(A, 11_500, 1_000);
    expect(pending(made)).toEqual(["count a"]);
    made.settle(0, true, 11_500);
    // What serves is not given up for a load that would be refused.
    expect(made.ended.get(large)).toBe("insufficient_memory");
    expect(pending(made)).toEqual([]);
    const next = made.arrive(A, 100, 16);
    made.settleAll();
    expect(made.ended.get(next)).toBe("done");
  });

  it("loads a model that is asked for without a request, also after others made room", () => {
    const made = world();
    made.serve(A);
    made.send({ type: "loadAsked", terms: D });
    expect(pending(made)).toEqual(["unload a"]);
    made.settle(0, true);
    expect(pending(made)).toEqual(["load d"]);
  });
});
