import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

it("gives a model more context again when what stood in the way has gone", () => {
  const world = new World(hostMemory(40_000));
  const [a, b] = [terms("a", 10_000), terms("b", 10_000)];
  const long = () => world.arrive(a, 14_000, 16, 15_000);
  const first = long();
  for (let step = 0; step < 6 && !world.running.has(first); step++) world.settle(0, true);
  expect(world.running.has(first)).toBe(true);
  world.finish(first);
  world.send({ type: "unloadAsked", model: "a" });
  world.settle(0, true);
  world.send({ type: "pinAsked", terms: b, pinned: true });
  world.serve(b);
  const refused = long();
  expect(world.ended.get(refused)).toBe("insufficient_memory");
  world.send({ type: "pinAsked", terms: b, pinned: false });
  const again = long();
  for (let step = 0; step < 8 && !world.running.has(again); step++) world.settle(0, true);
  expect(world.ended.get(again)).toBeUndefined();
  expect(world.running.has(again)).toBe(true);
});
