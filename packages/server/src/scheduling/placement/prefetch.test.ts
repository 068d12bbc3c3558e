import { describe, expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms } from "../state/state.js";

const A = terms("a", 40_000);
const B = terms("b", 40_000);
const C = terms("c", 40_000);

const pending = (world: World) =>
  world.pending.map(({ effect }) => ("model" in effect ? `${effect.type} ${effect.model}` : ""));

/** A world of so many bytes, and a request for A that runs. */
function runningA(bytes: number): { world: World; during: number } {
  const world = new World(hostMemory(bytes));
  const during = world.arrive(A, 100, 16);
  world.settle(0, true);
  return { world, during };
}

function serve(world: World, model: ModelTerms): void {
  const request = world.arrive(model, 100, 16);
  while (world.pending.length > 0) {
    world.at += 1_000;
    world.settle(0, true);
  }
  world.at += 10;
  world.finish(request);
}

describe("the model that comes next", () => {
  it("is loaded meanwhile where there is room", () => {
    const { world, during } = runningA(100_000);
    world.send({ type: "nextTold", terms: B, during });
    expect(pending(world)).toEqual(["load b"]);
    world.settle(0, true);
    const request = world.arrive(B, 100, 16);
    expect(world.running.has(request)).toBe(true);
    expect(world.estimates.get(request)).toBe(0);
  });

  it("is not loaded where it does not fit beside the one that runs", () => {
    const { world, during } = runningA(80_000);
    world.send({ type: "nextTold", terms: B, during });
    expect(pending(world)).toEqual([]);
    world.finish(during);
    expect(pending(world)).toEqual([]);
    expect(world.state.prefetches.size).toBe(0);
  });

  it.each([
    { here: C, gone: B, does: ["unload c"] },
    { here: B, gone: C, does: [] },
  ])("takes the memory of an idle model only where that is worth less: $does", (it) => {
    const { here, gone, does } = it;
    const world = new World(hostMemory(100_000));
    // The one that was asked for first goes first; B is asked for more often.
    serve(world, gone);
    serve(world, here);
    for (let i = 0; i < 5; i++) {
      world.at += 60_000;
      serve(world, B);
    }
    const during = world.arrive(A, 100, 16);
    while (world.pending.length > 0) world.settle(0, true);
    expect(world.running.has(during)).toBe(true);
    world.send({ type: "nextTold", terms: gone, during });
    expect(pending(world)).toEqual(does);
    if (does.length === 0) return;
    world.settle(0, true);
    expect(pending(world)).toEqual(["load b"]);
    expect(world.pending[0]!.effect).toMatchObject({ evicted: ["c"], request: null });
  });

  it("waits behind those that somebody waits for", () => {
    const { world, during } = runningA(140_000);
    const D = terms("d", 100_000);
    const waiting = world.arrive(D, 100, 16);
    world.send({ type: "nextTold", terms: B, during });
    expect(pending(world)).toEqual([]);
    world.send({ type: "cancelled", request: waiting });
    expect(pending(world)).toEqual(["load b"]);
  });

  it("gives way while it loads to one that somebody waits for", () => {
    const { world, during } = runningA(100_000);
    world.send({ type: "nextTold", terms: B, during });
    world.at += 1_000;
    const request = world.arrive({ ...C, reloadMs: { fromTier2: null, fromTier3: 300 } }, 100, 16);
    expect(world.estimates.get(request)).toBe(300);
    expect(pending(world)).toEqual(["unload b"]);
    world.settle(0, true);
    expect(pending(world)).toEqual(["load c"]);
    world.settle(0, true);
    expect(world.running.has(request)).toBe(true);
    // Nobody was told that it failed.
    expect(world.state.models.get("b")).toMatchObject({ phase: "unloaded", failures: 0 });
  });

  it.each(["request", "person"] as const)("stays once a %s wants it as well", (who) => {
    const { world, during } = runningA(100_000);
    world.send({ type: "nextTold", terms: B, during });
    const own = who === "request" ? world.arrive(B, 100, 16) : null;
    if (own === null) world.send({ type: "loadAsked", terms: B });
    world.arrive(C, 100, 16);
    expect(pending(world)).toEqual(["load b"]);
    world.settle(0, true);
    expect(own === null || world.running.has(own)).toBe(true);
  });

  it("is not stopped for another one that comes next, nor where there is room", () => {
    const { world, during } = runningA(100_000);
    world.send({ type: "nextTold", terms: B, during });
    world.send({ type: "nextTold", terms: C, during });
    expect(pending(world)).toEqual(["load b"]);
    world.arrive(terms("small", 1_000, { contextTokens: 1_000 }), 100, 16);
    expect(pending(world)).toEqual(["load b", "load small"]);
  });

  it("is forgotten with the request that told of it, and while draining", () => {
    const { world, during } = runningA(80_000);
    world.send({ type: "nextTold", terms: B, during: 999 });
    expect(world.state.prefetches.size).toBe(0);
    world.send({ type: "nextTold", terms: B, during });
    expect(world.state.prefetches.size).toBe(1);
    world.send({ type: "drainAsked" });
    expect(world.state.prefetches.size).toBe(0);
    world.send({ type: "nextTold", terms: B, during });
    world.finish(during);
    expect(pending(world)).toEqual(["unload a"]);
  });

  it("changes nothing when it is loaded, or the one that runs", () => {
    const { world, during } = runningA(100_000);
    world.send({ type: "nextTold", terms: A, during });
    expect(pending(world)).toEqual([]);
    expect(world.state.prefetches.size).toBe(0);
  });
});
