import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { Workload } from "./workload.js";

const ONE_SLOT = terms("a", 10_000, { slots: 1 });

function arrive(world: World, workload: Workload, of = ONE_SLOT): number {
  return world.arrive(of, 100, 16, undefined, null, { workload });
}

/** Ends what runs, again and again; in which order the requests ran. */
function orderOf(world: World): number[] {
  const order: number[] = [];
  for (let [next] = world.running.keys(); next !== undefined; [next] = world.running.keys()) {
    order.push(next);
    world.finish(next);
  }
  return order;
}

it("lets the more urgent class in first, and who came first within a class", () => {
  const world = new World();
  const first = arrive(world, "background");
  world.settle(0, true);
  const batch = arrive(world, "batch");
  const standard = [arrive(world, "standard")];
  world.at += 1;
  standard.push(arrive(world, "standard"));
  const interactive = arrive(world, "interactive");
  expect(world.ended.get(interactive)).toBe("model_busy");
  expect(orderOf(world)).toEqual([first, ...standard, batch]);
});

it.each([
  [29_999, false],
  [30_001, true],
])(
  "a background request that has waited %i ms before an interactive one comes first: %s",
  (ms, isFirst) => {
    const world = new World();
    const first = arrive(world, "interactive");
    world.settle(0, true);
    const background = arrive(world, "background");
    world.at += ms;
    const interactive = arrive(world, "interactive");
    const order = isFirst ? [first, background, interactive] : [first, interactive, background];
    expect(orderOf(world)).toEqual(order);
  },
);

it("gives memory to the model of the more urgent request", () => {
  const world = new World(hostMemory(100_000));
  const running = world.arrive(terms("a", 80_000), 100, 16);
  world.settle(0, true);
  const batch = arrive(world, "batch", terms("b", 60_000));
  const interactive = arrive(world, "interactive", terms("c", 60_000));
  world.finish(running);
  world.settle(0, true);
  world.settle(0, true);
  expect([world.running.has(interactive), world.running.has(batch)]).toEqual([true, false]);
  world.settleAll();
  expect(world.ended.get(batch)).toBe("done");
});
