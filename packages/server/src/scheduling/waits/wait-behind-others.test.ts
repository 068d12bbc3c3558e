import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../__fixtures__/runs.js";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms, SchedulerLimits } from "../state/state.js";
import type { Workload } from "../turns/workload.js";
import { estimatedWaitMs } from "./estimated-wait.js";
import { newcomer } from "./newcomer.js";

const A = terms("a", 1_000, { heavy: true, slots: 1 });
const B = terms("b", 1_000, { heavy: true, slots: 1 });
const HELPER = terms("embeddings", 1_000, { slots: 1 });

/** All are loaded, and have served one request each: A's in 1 s, B's in 2 s, others' in 0.1 s. */
function served(limits: Partial<SchedulerLimits>, models: ModelTerms[] = [A, B, HELPER]): World {
  const world = new World(hostMemory(100_000), limits);
  for (const model of models) {
    world.serve(model, { holdMs: model === A ? 1_000 : model === B ? 2_000 : 100 });
  }
  world.state.maxQueuePerModel = 200;
  return world;
}

describe("the wait that is told of a model which shares the processor", () => {
  it("has in it what runs, and what comes first, of the others", () => {
    const world = served({ lane: true });
    expect(world.told(A)).toBe(0);
    world.at += 300;
    expect(world.told(B)).toBe(700);
    expect(world.told(B)).toBe(2_700);
    world.at += 100;
    expect(world.told(A)).toBe(600 + 2 * 2_000);
    expect(world.told(HELPER)).toBe(0);
  });

  it("goes with the batch of the model that has it", () => {
    const wide = terms("wide", 1_000, { heavy: true });
    const world = served({ lane: true }, [wide, B]);
    world.arrive(wide, 100, 16);
    expect(world.told(B)).toBe(100);
    world.at += 50;
    expect(world.told(wide)).toBe(0);
    expect(world.told(wide)).toBe(50);
    expect(world.told(B)).toBeGreaterThan(2_000);
  });

  it("waits no longer for a long one than until the lane is shared", () => {
    const world = served({ lane: true });
    const long = world.arrive(A, 100, 16);
    world.at += 60_000;
    world.finish(long);
    world.arrive(A, 100, 16);
    expect(world.told(B)).toBe(10_000);
    world.at += 4_000;
    expect(world.told(B)).toBe(6_000 + 2_000);
  });

  it("is unknown while one runs in the lane of which nothing is known", () => {
    const world = served({ lane: true }, [A]);
    world.arrive(B, 100, 16);
    world.settle(0, true);
    expect(world.told(A)).toBeNull();
    world.at += 10_000;
    world.send({ type: "tick" });
    expect(world.told(B)).toBeNull();
  });

  it("has in it the lane also when the model has to be loaded first", () => {
    const world = served({ lane: true });
    world.send({ type: "unloadAsked", model: "a" });
    world.settle(0, true);
    world.arrive(B, 100, 16);
    world.state.models.get("a")!.reloadMs = 500;
    expect(world.told(A)).toBe(2_000);
    world.state.models.get("a")!.reloadMs = 2_500;
    const request = newcomer({ promptBound: 100, maxTokens: 16 }, world.at, "interactive");
    const model = { ...world.state.models.get("a")!, phase: "unloaded" as const, placement: null };
    expect(estimatedWaitMs(world.state, model, request, world.at)).toBe(2_500);
  });

  it("is near what all before it take, when these are many", () => {
    const world = served({ lane: true });
    for (let i = 0; i < 100; i++) {
      world.at += 20;
      world.arrive(A, 100, 16);
      world.arrive(B, 100, 16);
    }
    const wait = world.told(B)!;
    expect(wait / (100 * 1_000 + 100 * 2_000)).toBeGreaterThan(0.9);
    expect(wait / (100 * 1_000 + 100 * 2_000)).toBeLessThan(1.1);
  });
});

describe("the wait that is told by class", () => {
  it("leaves those out that a more urgent one goes before", () => {
    const world = served({});
    world.arrive(A, 100, 16);
    for (const workload of ["standard", "batch", "background"] as const) {
      world.arrive(A, 100, 16, undefined, null, { workload });
    }
    const state = world.state.models.get("a")!;
    const wait = (workload: Workload) => {
      const request = newcomer({ promptBound: 100, maxTokens: 16 }, world.at, workload);
      return estimatedWaitMs(world.state, state, request, world.at);
    };
    expect(["interactive", "standard", "batch", "background"].map((one) => wait(one as Workload)))
      // Those of its own class come before it.
      .toEqual([1_000, 2_000, 3_000, 4_000]);
    // A lower one that has waited for ten seconds more comes first, and the one that runs is over.
    world.at += 10_001;
    expect(wait("interactive")).toBe(1_000);
    expect(wait("standard")).toBe(2_000);
  });

  it("is unknown for background work that the memory in use is not given to", () => {
    const world = new World(hostMemory(100_000));
    const first = world.arrive(terms("big", 80_000), 100, 16);
    world.settle(0, true);
    world.finish(first);
    const small = terms("small", 60_000, { reloadMs: { fromTier2: null, fromTier3: 400 } });
    expect(world.told(small, "background")).toBeNull();
    expect(world.told(small, "interactive")).toBe(400);
  });
});

describe("the wait that is told where a limit of running requests binds", () => {
  it("has in it what runs of other models", () => {
    const world = served({ maxRunning: 1 });
    world.arrive(B, 100, 16);
    world.at += 500;
    expect(world.told(A)).toBe(1_500);
    expect(world.told(A)).toBe(2_500);
    expect(world.told(HELPER)).toBe(3_500);
  });

  it("leaves them out while it does not bind", () => {
    const world = served({ maxRunning: 2 });
    world.arrive(B, 100, 16);
    expect(world.told(A)).toBe(0);
  });
});

it("is finite and never negative, and longer for each one more of its model that waits", () => {
  const models = [A, B, HELPER, terms("c", 1_000, { heavy: true, slots: 2 })];
  const step = fc.record({
    model: fc.nat(models.length - 1),
    bound: fc.integer({ min: 1, max: 10_000 }),
    max: fc.integer({ min: 1, max: 4_096 }),
    workload: fc.constantFrom<Workload>("interactive", "standard", "batch", "background"),
    ms: fc.nat(1_500),
    finishes: fc.boolean(),
  });
  const limits = fc.record({
    lane: fc.boolean(),
    maxRunning: fc.option(fc.constantFrom(1, 2, 4)),
  });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 80 }), (limited, steps) => {
      const world = served(limited, models);
      for (const { model, bound, max, workload, ms, finishes } of steps) {
        world.at += ms;
        const [running] = world.running.keys();
        if (finishes && running !== undefined) world.finish(running);
        const of = models[model]!;
        const state = world.state.models.get(of.id)!;
        const wait = () => {
          const request = newcomer({ promptBound: bound, maxTokens: max }, world.at, workload);
          return estimatedWaitMs(world.state, state, request, world.at);
        };
        const before = wait();
        const request = world.arrive(of, bound, max, undefined, null, { workload });
        expect(world.estimates.get(request)).toBe(before);
        expect(Number.isFinite(before)).toBe(true);
        expect(before).toBeGreaterThanOrEqual(0);
        if (!world.running.has(request)) expect(wait()).toBeGreaterThanOrEqual(before!);
      }
    }),
    { numRuns: 200 },
  );
}, 60_000);
