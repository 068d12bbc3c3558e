import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../__fixtures__/runs.js";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms } from "../state/state.js";
import { estimatedWaitMs } from "./estimated-wait.js";
import { newcomer } from "./newcomer.js";

const ONE: ModelTerms = {
  id: "one",
  slots: 1,
  contextTokens: 65_536,
  maxContextTokens: 65_536,
  idleUnloadMs: Number.POSITIVE_INFINITY,
};
const TWO: ModelTerms = { ...ONE, id: "two", slots: 2 };

/** A world whose model has been loaded in `loadMs`, and has served one request in `holdMs`. */
function served(model: ModelTerms, { loadMs = 300, holdMs = 1_000 } = {}): World {
  const world = new World();
  world.serve(model, { loadMs, holdMs });
  return world;
}

describe("the wait that is told at arrival", () => {
  it("is nothing for a free slot, also before anything was served", () => {
    const world = new World();
    world.arrive(TWO, 100, 16);
    world.settle(0, true);
    expect(world.told(TWO)).toBe(0);
  });

  it("is unknown while a busy model has never served", () => {
    const world = new World();
    world.arrive(ONE, 100, 16);
    world.settle(0, true);
    expect(world.told(ONE)).toBeNull();
  });

  it("is what is left of the one that runs, then as many averages as are ahead", () => {
    const world = served(ONE);
    expect(world.told(ONE)).toBe(0);
    world.at += 400;
    expect(world.told(ONE)).toBe(600);
    expect(world.told(ONE)).toBe(1_600);
    expect(world.told(ONE)).toBe(2_600);
  });

  it("is spread over the slots", () => {
    const world = served(TWO);
    expect([world.told(TWO), world.told(TWO)]).toEqual([0, 0]);
    expect([world.told(TWO), world.told(TWO)]).toEqual([1_000, 1_000]);
  });

  it("has the load in it, or what is left of that", () => {
    const world = served(ONE);
    world.send({ type: "unloadAsked", model: "one" });
    world.settle(0, true);
    expect(world.told(ONE)).toBe(300);
    world.at += 100;
    expect(world.told(ONE)).toBe(200 + 1_000);
  });

  it("waits for the context that those before it hold", () => {
    const world = served(TWO);
    world.arrive(TWO, 100, 16, 60_000);
    const wide = world.arrive(TWO, 100, 16, 10_000);
    expect(world.estimates.get(wide)).toBe(1_000);
  });

  it("tells apart requests of different length", () => {
    const world = served(ONE, { holdMs: 200 });
    for (let i = 0; i < 10; i++) {
      for (const [maxTokens, holdMs] of [
        [16, 200],
        [2_048, 5_000],
      ] as const) {
        const request = world.arrive(ONE, 100, maxTokens);
        world.at += holdMs;
        world.finish(request);
      }
    }
    world.arrive(ONE, 100, 2_048);
    expect(world.told(ONE)).toBeGreaterThan(4_500);
  });

  it("has in it what others must end before there is memory", () => {
    const a = terms("a", 60_000);
    const b = terms("b", 60_000, { slots: 1 });
    const world = new World(hostMemory(100_000));
    const serve = (model: ModelTerms) => {
      const request = world.arrive(model, 100, 16);
      for (let left = 3; world.pending.length > 0 && left > 0; left--) {
        world.at += 250;
        world.settle(0, true);
      }
      world.at += 2_000;
      world.finish(request);
    };
    serve(b);
    serve(a);
    world.arrive(a, 100, 16);
    world.at += 500;
    // What is left of the one that runs, and the load.
    expect(world.told(b)).toBe(1_500 + 250);
    expect(world.told(b)).toBe(1_500 + 250 + 2_000);
  });

  it("is finite and never negative, and longer for each one more that waits", () => {
    const step = fc.record({
      model: fc.nat(1),
      bound: fc.integer({ min: 1, max: 30_000 }),
      max: fc.integer({ min: 1, max: 8_192 }),
      ms: fc.nat(3_000),
      finishes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = served(ONE);
        world.serve(TWO);
        for (const { model, bound, max, ms, finishes } of steps) {
          world.at += ms;
          const [running] = world.running.keys();
          if (finishes && running !== undefined) world.finish(running);
          const it = [ONE, TWO][model]!;
          const state = world.state.models.get(it.id)!;
          const need = { promptBound: bound, maxTokens: max };
          const before = estimatedWaitMs(world.state, state, newcomer(need, world.at), world.at);
          const request = world.arrive(it, bound, max);
          if (!world.open.has(request)) continue;
          expect(world.estimates.get(request)).toBe(before);
          expect(Number.isFinite(before)).toBe(true);
          expect(before).toBeGreaterThanOrEqual(0);
          if (!world.running.has(request)) {
            const after = estimatedWaitMs(world.state, state, newcomer(need, world.at), world.at);
            expect(after).toBeGreaterThanOrEqual(before!);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("a deadline", () => {
  const late = (world: World, deadlineMs: number) =>
    world.ended.get(world.arrive(ONE, 100, 16, undefined, null, { deadlineMs }));

  it("that the expected wait misses has a request refused at once", () => {
    const world = served(ONE);
    world.arrive(ONE, 100, 16);
    expect(late(world, 999)).toBe("deadline_unmeetable");
    expect(late(world, 1_000)).toBeUndefined();
  });

  it("does not refuse where nothing tells", () => {
    const world = new World();
    expect(late(world, 1)).toBeUndefined();
  });

  it("comes before a full queue, and lets who tries again find the model loaded", () => {
    const world = served(ONE);
    world.send({ type: "unloadAsked", model: "one" });
    world.settle(0, true);
    expect(late(world, 100)).toBe("deadline_unmeetable");
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["load"]);
    world.settle(0, true);
    expect(late(world, 100)).toBeUndefined();
    for (let i = 0; i < 3; i++) world.arrive(ONE, 100, 16);
    expect(late(world, 100)).toBe("deadline_unmeetable");
    expect(late(world, 100_000)).toBe("model_busy");
  });
});
