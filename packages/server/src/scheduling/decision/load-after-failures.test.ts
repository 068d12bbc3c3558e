import { expect, it } from "vitest";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const A = terms("a", 50_000);
const waiting = (world: World) => world.pending.map(({ effect }) => effect);

function failed(times: number): World {
  const world = new World();
  for (let failure = 0; failure < times; failure++) {
    world.send({ type: "loadAsked", terms: A });
    expect(waiting(world)).toMatchObject([{ type: "load", model: "a" }]);
    world.settle(0, false);
  }
  return world;
}

it("tries at once for who asks for a load, while requests wait for the rest after failures", () => {
  const world = failed(4);
  const request = world.arrive(A, 100, 16);
  expect(world.ended.get(request)).toBe("load_cooldown");
  world.send({ type: "loadAsked", terms: A });
  expect(waiting(world)).toMatchObject([{ type: "load", model: "a" }]);
});

it("lets requests join the load that somebody asked for", () => {
  const world = failed(4);
  world.send({ type: "loadAsked", terms: A });
  const request = world.arrive(A, 100, 16);
  world.settle(0, true);
  expect(world.running.has(request)).toBe(true);
});

it("rests longer after another failure, also of a load that somebody asked for", () => {
  const world = failed(3);
  const told = () => {
    world.arrive(A, 100, 16);
    return world.retryAfterSecs;
  };
  const before = told();
  world.send({ type: "loadAsked", terms: A });
  world.settle(0, false);
  expect(told()).toBeGreaterThan(before!);
});
