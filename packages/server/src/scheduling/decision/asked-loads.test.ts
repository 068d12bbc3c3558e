import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const A = terms("a", 50_000);
const B = terms("b", 40_000);
const effects = (world: World) => world.pending.map(({ effect }) => effect);

it("loads with the context that is asked for, which is not for good", () => {
  const world = new World(hostMemory(100_000));
  world.send({ type: "loadAsked", terms: A, contextTokens: 12_000 });
  expect(effects(world)).toMatchObject([{ type: "load", contextTokens: 12_000 }]);
  world.settle(0, true);
  world.send({ type: "loadAsked", terms: A, contextTokens: 1_000 });
  expect(effects(world)).toMatchObject([{ type: "unload", model: "a", evicted: null }]);
  world.settle(0, true);
  expect(effects(world)).toMatchObject([{ type: "load", contextTokens: 1_000 }]);
  world.settle(0, true);
  world.send({ type: "unloadAsked", model: "a" });
  world.settle(0, true);
  world.arrive(A, 100, 16);
  expect(effects(world)).toMatchObject([{ type: "load", contextTokens: 8_192 }]);
});

it("refuses only the context that does not fit, not those who wait for the model as it is", () => {
  const world = new World(hostMemory(60_000));
  world.arrive(B, 100, 16);
  world.settle(0, true);
  const request = world.arrive(A, 100, 16);
  world.send({ type: "loadAsked", terms: A, ask: 7, contextTokens: 16_000 });
  expect(effects(world)).toMatchObject([{ type: "loadRefused", model: "a", ask: null }]);
  world.pending.length = 0;
  expect(world.ended.has(request)).toBe(false);
  world.settleAll();
  expect(world.ended.get(request)).toBe("done");
});

it("refuses another context while the model is used or loaded, and only to who asks for it", () => {
  const world = new World(hostMemory(100_000));
  const request = world.arrive(A, 100, 16);
  const ask = { type: "loadAsked", terms: A, ask: 3, contextTokens: 1_000 } as const;
  world.send(ask);
  expect(effects(world)[1]).toMatchObject({ type: "loadRefused", ask: 3, code: "model_busy" });
  world.pending.pop();
  world.settle(0, true);
  world.send(ask);
  expect(effects(world)).toMatchObject([{ type: "loadRefused", ask: 3, code: "model_busy" }]);
  world.pending.pop();
  world.send({ ...ask, contextTokens: 16_385 });
  expect(effects(world)).toMatchObject([{ code: "invalid_request", param: "context_len" }]);
  expect(world.running.has(request)).toBe(true);
});

it("forgets a load that nobody waits for any more, and lets others have the memory", () => {
  const world = new World(hostMemory(100_000));
  const first = world.arrive(A, 100, 16);
  world.settle(0, true);
  world.send({ type: "loadAsked", terms: terms("large", 80_000) });
  world.send({ type: "loadUnasked", model: "large" });
  world.finish(first);
  expect(effects(world)).toEqual([]);
  expect(world.state.models.get("large")).toMatchObject({ askedAt: null, waitsForMemory: false });
});

it("does not do with less memory than those that leave for it will give", () => {
  const world = new World(hostMemory(100_000));
  world.serve(A);
  world.arrive(terms("c", 45_000), 100, 16);
  expect(effects(world)).toMatchObject([{ type: "unload", model: "a" }]);
  // Beside the one that leaves there is room for the weights and a little context now.
  world.send({ type: "memoryMeasured", memory: hostMemory(110_000) });
  expect(effects(world)).toHaveLength(1);
  world.settle(0, true);
  expect(effects(world)[0]).toMatchObject({
    type: "load",
    model: "c",
    contextTokens: 8_192,
    evicted: ["a"],
  });
});

it("does not count those that went for a request which has left", () => {
  const world = new World(hostMemory(100_000));
  world.serve(A);
  const large = terms("large", 80_000);
  const left = world.arrive(large, 100, 16);
  expect(effects(world)).toMatchObject([{ type: "unload", model: "a" }]);
  world.send({ type: "cancelled", request: left });
  world.settle(0, true);
  world.arrive(large, 100, 16);
  expect(effects(world)).toMatchObject([{ type: "load", model: "large", evicted: [] }]);
});

it("unloads on demand only what nobody uses, waits for or loads", () => {
  const world = new World(hostMemory(100_000));
  const request = world.arrive(A, 100, 16);
  const ask = { type: "unloadAsked", model: "a" } as const;
  world.send(ask);
  expect(effects(world)[1]).toMatchObject({ type: "unloadRefused" });
  world.pending.pop();
  world.settle(0, true);
  world.send(ask);
  expect(effects(world)).toMatchObject([{ type: "unloadRefused" }]);
  world.pending.pop();
  world.finish(request);
  world.send(ask);
  world.send(ask);
  expect(effects(world)).toMatchObject([{ type: "unload", model: "a", evicted: null }]);
  world.settle(0, true);
  world.send(ask);
  expect(effects(world)).toEqual([]);
});

it("gives the memory of a model that nobody uses once it is loaded to those that wait for it", () => {
  const world = new World(hostMemory(100_000));
  const left = world.arrive(A, 100, 16);
  const waits = world.arrive(terms("large", 80_000), 100, 16);
  world.send({ type: "cancelled", request: left });
  world.settle(0, true);
  expect(effects(world)).toMatchObject([{ type: "unload", model: "a" }]);
  world.settleAll();
  expect(world.ended.get(waits)).toBe("done");
});
