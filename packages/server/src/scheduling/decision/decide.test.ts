import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RUNS } from "../__fixtures__/runs.js";
import { nth, stepsAbout, take } from "../__fixtures__/steps.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms } from "../state/state.js";
import { reservation } from "./context-need.js";

const TERMS: ModelTerms[] = [
  { id: "a", slots: 1, contextTokens: 4096, maxContextTokens: 16384, idleUnloadMs: 1000 },
  {
    id: "b",
    slots: 3,
    contextTokens: 8192,
    maxContextTokens: 8192,
    idleUnloadMs: Number.POSITIVE_INFINITY,
  },
];

describe("scheduler", () => {
  it("keeps its promises for any order of events", () => {
    const { finish, next, cancel, crash, unload, tick, drain } = stepsAbout(TERMS.length);
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant("arrive" as const),
          model: fc.nat(1),
          bound: fc.integer({ min: 1, max: 20_000 }),
          max: fc.integer({ min: 1, max: 8192 }),
          asked: fc.option(fc.integer({ min: 1, max: 20_000 })),
          keep: fc.option(fc.constantFrom(0, 500, Number.POSITIVE_INFINITY)),
          deadline: fc.option(fc.nat(3_000), { nil: undefined }),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          do: fc.constant("settle" as const),
          index: fc.nat(9),
          well: fc.boolean(),
          tokens: fc.integer({ min: 1, max: 20_000 }),
        }),
      },
      { weight: 4, arbitrary: finish },
      { weight: 2, arbitrary: next },
      { weight: 2, arbitrary: cancel },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant("measure" as const),
          index: fc.nat(9),
          tokens: fc.integer({ min: 1, max: 9_000 }),
        }),
      },
      { weight: 1, arbitrary: crash },
      { weight: 1, arbitrary: unload },
      { weight: 2, arbitrary: tick(5_000) },
      { weight: 1, arbitrary: drain(20) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const world = new World();
        for (const s of steps) {
          world.at += 10;
          if (s.do === "arrive")
            world.arrive(TERMS[s.model]!, s.bound, s.max, s.asked ?? undefined, s.keep, {
              deadlineMs: s.deadline,
            });
          else if (s.do === "settle") world.settle(s.index, s.well, s.tokens);
          else if (s.do === "measure") {
            const request = nth(world.running.keys(), s.index);
            if (request !== undefined)
              world.send({ type: "measured", request, promptTokens: s.tokens });
          } else take(world, TERMS, s);
        }
        world.settleAll();
        expect(world.open.size).toBe(0);
        expect(world.state.requests.size).toBe(0);
        expect(world.state.prefetches.size).toBe(0);
        expect(world.ended.size).toBe(world.nextRequest - 1);
      }),
      { numRuns: RUNS },
    );
  }, 1_200_000);

  it("loads once for many waiters", () => {
    const world = new World();
    for (let i = 0; i < 3; i++) world.arrive(TERMS[1]!, 100, 16);
    expect(world.pending.filter(({ effect }) => effect.type === "load")).toHaveLength(1);
    world.settle(0, true);
    expect(world.running.size).toBe(3);
  });

  it("refuses what would wait beyond the bound", () => {
    const world = new World();
    const requests = Array.from({ length: 6 }, () => world.arrive(TERMS[0]!, 100, 16));
    expect(requests.map((id) => world.ended.get(id))).toEqual([
      ...Array(4).fill(undefined),
      "model_busy",
      "model_busy",
    ]);
  });

  it("grants in the order of arrival", () => {
    const world = new World();
    const [first, second] = [world.arrive(TERMS[0]!, 100, 16), world.arrive(TERMS[0]!, 100, 16)];
    world.settle(0, true);
    expect([...world.running.keys()]).toEqual([first]);
    world.finish(first);
    expect([...world.running.keys()]).toEqual([second]);
  });

  it("counts a prompt whose bound does not fit before it lets it wait or go", () => {
    const world = new World();
    const request = world.arrive(TERMS[1]!, 9_000, 100);
    world.settle(0, true);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["count"]);
    world.settle(0, true, 3_000);
    expect(world.running.has(request)).toBe(true);
  });

  it("refuses a prompt that is longer than the model's context, with both numbers", () => {
    const world = new World();
    const request = world.arrive(TERMS[1]!, 30_000, 100);
    world.settle(0, true);
    world.settle(0, true, 9_000);
    expect(world.ended.get(request)).toBe("context_length_exceeded");
  });

  it("grows the pool when the model is idle, for a request that needs it", () => {
    const world = new World();
    const small = world.arrive(TERMS[0]!, 100, 16);
    world.settle(0, true);
    const large = world.arrive(TERMS[0]!, 100, 16, 10_000);
    expect(world.running.has(small)).toBe(true);
    world.finish(small);
    // The conversation is taken along.
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["park"]);
    world.settle(0, true);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
    world.settle(0, true);
    expect(world.pending.map(({ effect }) => effect)).toEqual([
      {
        type: "load",
        model: "a",
        contextTokens: 16_384,
        request: large,
        placement: null,
        evicted: [],
      },
    ]);
    world.settle(0, true);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unpark"]);
    world.settle(0, true);
    expect(world.running.has(large)).toBe(true);
  });

  it("lets the next request load again after one failure, and rests after more", () => {
    const world = new World();
    for (let failure = 1; failure <= 2; failure++) {
      const request = world.arrive(TERMS[0]!, 100, 16);
      world.settle(0, false);
      expect(world.ended.get(request)).toBe("engine_failed");
    }
    const third = world.arrive(TERMS[0]!, 100, 16);
    expect(world.ended.get(third)).toBe("load_cooldown");
    world.at += 1_001;
    const fourth = world.arrive(TERMS[0]!, 100, 16);
    world.settle(0, true);
    expect(world.running.has(fourth)).toBe(true);
  });

  it("keeps waiting requests when an engine dies, and loads again for them", () => {
    const world = new World();
    const [first, second] = [world.arrive(TERMS[0]!, 100, 16), world.arrive(TERMS[0]!, 100, 16)];
    world.settle(0, true);
    world.send({ type: "engineExited", model: "a" });
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
    world.settle(0, true);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["load"]);
    world.finish(first);
    world.settle(0, true);
    expect([...world.running.keys()]).toEqual([second]);
  });

  it("unloads an idle model when its time is over, and at once for keep_alive 0", () => {
    const world = new World();
    world.serve(TERMS[0]!);
    expect(world.timer).toBe(1_000);
    world.at = 1_000;
    world.send({ type: "tick" });
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
    world.settle(0, true);
    const last = world.arrive(TERMS[0]!, 100, 16, undefined, 0);
    world.settle(0, true);
    world.finish(last);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
  });

  it.each([
    { keepAliveMs: null, goesAt: 1_000 },
    { keepAliveMs: 300, goesAt: 300 },
  ])("lets a model go also when the last in line is refused, %o", ({ keepAliveMs, goesAt }) => {
    const world = new World();
    const first = world.arrive(TERMS[0]!, 100, 16, undefined, keepAliveMs);
    world.settle(0, true);
    const second = world.arrive(TERMS[0]!, 30_000, 16);
    world.finish(first);
    world.settle(0, true, 20_000);
    expect(world.ended.get(second)).toBe("context_length_exceeded");
    expect(world.timer).toBe(goesAt);
  });

  it("does not ask again for context that an engine does not give", () => {
    const world = new World();
    const request = world.arrive(TERMS[0]!, 100, 16, 10_000);
    world.settle(0, true);
    world.settle(0, true);
    world.pending.length = 0;
    world.send({ type: "loaded", model: "a", slots: 1, contextTokens: 6_000 });
    expect(world.pending).toEqual([]);
    expect(world.ended.get(request)).toBe("invalid_request");
    const smaller = world.arrive(TERMS[0]!, 100, 16, 6_000);
    expect(world.running.has(smaller)).toBe(true);
  });

  it.each([
    { failure: "engine_failed", loads: [4096, 16_384, 4096, 16_384] },
    { failure: "insufficient_memory", loads: [4096, 16_384, 4096] },
  ] as const)("grows again after an accident, not for want of memory, %o", ({ failure, loads }) => {
    const world = new World();
    const asked: number[] = [];
    const settle = (well: boolean) => {
      for (const { effect } of world.pending)
        if (effect.type === "load") asked.push(effect.contextTokens);
      world.settle(0, well, 10, failure);
    };
    const large = world.arrive(TERMS[0]!, 100, 16, 10_000);
    for (const well of [true, true, false]) settle(well);
    expect(world.ended.get(large)).toBe(failure);
    const again = world.arrive(TERMS[0]!, 100, 16, 10_000);
    while (world.pending.length > 0) settle(true);
    expect(asked).toEqual(loads);
    expect(world.running.has(again)).toBe(failure === "engine_failed");
  });

  it("passes over what a request of an engine that has ended still measures", () => {
    const world = new World();
    const request = world.arrive(TERMS[0]!, 100, 16);
    world.settle(0, true);
    world.send({ type: "engineExited", model: "a" });
    world.send({ type: "measured", request, promptTokens: 10 });
    expect(world.state.models.get("a")!.reserved).toBe(0);
  });

  it("remembers what a slot holds when a request ends before it has touched it", () => {
    const world = new World();
    const held = () => world.state.models.get("a")!.slots[0]!.outline;
    world.serve(TERMS[0]!);
    const second = world.arrive(TERMS[0]!, 100, 16);
    const before = held();
    world.send({ type: "finished", request: second, outline: null, answered: false });
    expect(before).not.toBeNull();
    expect(held()).toBe(before);
  });

  it("refuses the waiting and the coming ones while draining, and lets the running ones end", () => {
    const world = new World();
    const [running, waiting] = [world.arrive(TERMS[0]!, 100, 16), world.arrive(TERMS[0]!, 100, 16)];
    world.settle(0, true);
    world.send({ type: "drainAsked" });
    const late = world.arrive(TERMS[0]!, 100, 16);
    expect(world.ended.get(waiting)).toBe("cancelled");
    expect(world.ended.get(late)).toBe("shutting_down");
    world.finish(running);
    expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
  });

  it("reserves the floor, what num_ctx asks, or prompt and answer", () => {
    const pool = { tokens: 32768, slots: 4 };
    const long = { promptBound: 5000, maxTokens: 1000 };
    expect(reservation({ promptBound: 10, maxTokens: 10 }, pool)).toBe(2048);
    expect(reservation({ promptBound: 10, maxTokens: 10 }, { tokens: 2048, slots: 4 })).toBe(512);
    expect(reservation(long, pool)).toBe(6000);
    expect(reservation({ ...long, promptTokens: 2000 }, pool)).toBe(3000);
    expect(reservation({ ...long, asked: 700 }, pool)).toBe(700);
  });
});
