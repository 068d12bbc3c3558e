import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { BACKGROUND_PATIENCE_MS } from "../state/waiting.js";
import { SPARED_MS } from "./demand.js";
import type { Workload } from "./workload.js";

const CHAT = terms("chat", 60_000);
const TITLES = terms("titles", 50_000);

/** A world in which the chat model is idle since a request of a class. */
function usedBy(workload: Workload): World {
  const world = new World(hostMemory(100_000));
  const chat = world.arrive(CHAT, 100, 16, undefined, null, { workload });
  world.settle(0, true);
  world.finish(chat);
  return world;
}

const background = (world: World, more = {}) =>
  world.arrive(TITLES, 100, 16, undefined, null, { workload: "background", ...more });
const kinds = (world: World) => world.pending.map(({ effect }) => effect.type);

it.each<[Workload, boolean]>([
  ["interactive", false],
  ["standard", false],
  ["batch", true],
  ["background", true],
])("takes the memory of a model that %s requests have used last: %s", (workload, takes) => {
  const world = usedBy(workload);
  background(world);
  expect(kinds(world)).toEqual(takes ? ["unload"] : []);
});

it("takes it also from such a model when that is not used for ten minutes", () => {
  const world = usedBy("interactive");
  world.at += SPARED_MS;
  background(world);
  expect(kinds(world)).toEqual(["unload"]);
});

it("waits a while, is refused then, and told when to come again", () => {
  const world = usedBy("standard");
  const request = background(world);
  expect(world.timer).toBe(BACKGROUND_PATIENCE_MS);
  world.at = world.timer!;
  world.send({ type: "tick" });
  expect(world.ended.get(request)).toBe("memory_in_use");
  expect(world.retryAfterSecs).toBe((SPARED_MS - BACKGROUND_PATIENCE_MS) / 1_000);
});

it("loads when a more urgent request for the same model comes", () => {
  const world = usedBy("standard");
  const request = background(world);
  world.arrive(TITLES, 100, 16);
  expect(kinds(world)).toEqual(["unload"]);
  world.settleAll();
  expect(world.ended.get(request)).toBe("done");
});

it("may not evict: runs on what is loaded or fits beside it, and is refused at once where it would need more", () => {
  const never = { mayEvict: false };
  const world = usedBy("batch");
  expect(world.ended.get(background(world, never))).toBe("memory_in_use");
  const standard = world.arrive(TITLES, 100, 16, undefined, null, never);
  expect(world.ended.get(standard)).toBe("memory_in_use");
  const resident = world.arrive(CHAT, 100, 16, undefined, null, never);
  expect(world.running.has(resident)).toBe(true);
  const small = world.arrive(terms("small", 20_000), 100, 16, undefined, null, never);
  expect(kinds(world)).toEqual(["load"]);
  world.settleAll();
  expect(world.ended.get(small)).toBe("done");
});

it("is told that it never fits where that is so", () => {
  const world = usedBy("standard");
  const request = world.arrive(terms("huge", 200_000), 1, 1, undefined, null, { mayEvict: false });
  expect(world.ended.get(request)).toBe("insufficient_memory");
});
