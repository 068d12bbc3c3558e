import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const PINNED = terms("pinned", 60_000, { idleUnloadMs: 1_000 });
const OTHER = terms("other", 50_000);
const kinds = (world: World) => world.pending.map(({ effect }) => effect.type);

function pinned(keepAliveMs: number | null = null): World {
  const world = new World(hostMemory(100_000));
  world.send({ type: "pinAsked", terms: PINNED, pinned: true });
  const request = world.arrive(PINNED, 100, 16, undefined, keepAliveMs);
  world.settle(0, true);
  world.finish(request);
  return world;
}

it.each([null, 0, 500])("stays when its idle time is over, keep_alive %s", (keepAliveMs) => {
  const world = pinned(keepAliveMs);
  expect(world.timer).toBeNull();
  world.at += 1_000_000;
  world.send({ type: "tick" });
  expect(kinds(world)).toEqual([]);
});

it("makes room for nobody, who is told so", () => {
  const world = pinned();
  const request = world.arrive(OTHER, 100, 16);
  expect(world.ended.get(request)).toBe("insufficient_memory");
});

it("goes when a person unloads it, and is pinned again with its next load", () => {
  const world = pinned();
  world.send({ type: "unloadAsked", model: "pinned" });
  expect(kinds(world)).toEqual(["unload"]);
  world.settle(0, true);
  world.serve(PINNED);
  expect(world.state.models.get("pinned")).toMatchObject({ phase: "ready", pinned: true });
});

it("has its idle time again from when the pin is taken away", () => {
  const world = pinned();
  world.at = 50_000;
  world.send({ type: "pinAsked", terms: PINNED, pinned: false });
  expect(world.timer).toBe(51_000);
  const request = world.arrive(OTHER, 100, 16);
  expect(kinds(world)).toEqual(["unload"]);
  world.settleAll();
  expect(world.ended.get(request)).toBe("done");
});

it("lets those in that made room when it is pinned", () => {
  const world = new World(hostMemory(100_000));
  const running = [world.arrive(PINNED, 100, 16), world.arrive(PINNED, 100, 16)];
  world.settle(0, true);
  world.arrive(OTHER, 100, 16);
  world.at += 3_000;
  world.send({ type: "tick" });
  const waits = world.arrive(PINNED, 100, 16);
  world.finish(running[0]!);
  expect(world.running.has(waits)).toBe(false);
  world.send({ type: "pinAsked", terms: PINNED, pinned: true });
  expect(world.running.has(waits)).toBe(true);
});
