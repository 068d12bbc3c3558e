import { expect, it } from "vitest";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const A = terms("a", 1, { slots: 4 });
const B = terms("b", 1, { slots: 4 });

function loaded(limits: ConstructorParameters<typeof World>[1]): World {
  const world = new World(null, limits);
  for (const model of [A, B]) {
    world.serve(model);
  }
  return world;
}

it("runs no more than the limit, and models take turns where it binds", () => {
  const world = loaded({ maxRunning: 2 });
  const many = Array.from({ length: 4 }, () => world.arrive(A, 100, 16));
  world.at += 100;
  const one = world.arrive(B, 100, 16);
  expect([...world.running.keys()]).toEqual(many.slice(0, 2));
  world.finish(many[0]!);
  // Others of its came before, but one of its runs.
  expect([...world.running.keys()]).toEqual([many[1], one]);
  world.settleAll();
  expect(world.ended.get(many[3]!)).toBe("done");
});

it("lets a model have all where no other waits", () => {
  const world = loaded({ maxRunning: 3 });
  for (let i = 0; i < 4; i++) world.arrive(A, 100, 16);
  expect(world.running.size).toBe(3);
});

it("refuses those that wait beyond the limit, and leaves room for another model", () => {
  const world = loaded({ maxRunning: 1, maxQueue: 3 });
  const many = Array.from({ length: 4 }, () => world.arrive(A, 100, 16));
  expect(many.map((id) => world.ended.get(id))).toEqual([...Array(3), "model_busy"]);
  const others = [world.arrive(B, 100, 16), world.arrive(B, 100, 16)];
  expect(others.map((id) => world.ended.get(id))).toEqual([undefined, "model_busy"]);
});
