import { expect, it } from "vitest";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const [A, B] = [terms("a", 50_000), terms("b", 50_000)];
const MINUTE = 60_000;

const large = (world: World) => world.arrive(A, 100, 16, 10_000);

/** Ends everything that is under way; loads end well up to so large a pool, and for want of memory above it. */
function settle(world: World, most = Number.POSITIVE_INFINITY): void {
  while (world.pending.length > 0) {
    const { effect } = world.pending[0]!;
    const well = effect.type !== "load" || effect.contextTokens <= most;
    world.settle(0, well, 10, "insufficient_memory");
  }
}

/** A world in which there was no memory for a larger pool of the model. */
function withoutMemory(): World {
  const world = new World();
  const request = large(world);
  settle(world, 8_192);
  expect(world.ended.get(request)).toBe("insufficient_memory");
  return world;
}

it("does not ask again at once for a pool that there was no memory for", () => {
  const world = withoutMemory();
  world.at += 9 * MINUTE;
  const again = large(world);
  settle(world, 8_192);
  expect(world.ended.get(again)).toBe("invalid_request");
});

it("asks for it again after ten minutes", () => {
  const world = withoutMemory();
  world.at += 10 * MINUTE;
  const again = large(world);
  settle(world);
  expect(world.running.has(again)).toBe(true);
});

it("loads it with such a context again when somebody asks for that after ten minutes", () => {
  const world = withoutMemory();
  world.at += 10 * MINUTE;
  world.send({ type: "loadAsked", terms: A, contextTokens: 12_000 });
  settle(world);
  expect(world.state.models.get("a")).toMatchObject({ phase: "ready", poolTokens: 12_000 });
});

it("asks for it again once another model has gone", () => {
  const world = withoutMemory();
  world.serve(B);
  world.send({ type: "unloadAsked", model: "b" });
  settle(world);
  const again = large(world);
  settle(world);
  expect(world.running.has(again)).toBe(true);
});

it("does not take its own leaving for room", () => {
  const world = withoutMemory();
  world.serve(A);
  world.send({ type: "unloadAsked", model: "a" });
  settle(world);
  const again = large(world);
  settle(world, 8_192);
  expect(world.ended.get(again)).toBe("invalid_request");
});

it("has the files that replace a model's start anew", () => {
  const world = withoutMemory();
  const other = terms("a", 40_000);
  other.memory!.readFrom = {};
  const again = world.arrive(other, 100, 16, 10_000);
  settle(world);
  expect(world.running.has(again)).toBe(true);
});
