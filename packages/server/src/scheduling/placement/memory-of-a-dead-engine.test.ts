import { expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const [A, B] = [terms("a", 50_000), terms("b", 50_000)];

it("stays booked until it has come back, and the next load is planned then", () => {
  const world = new World(hostMemory(100_000));
  world.serve(A);
  world.send({ type: "engineExited", model: "a" });
  const next = world.arrive(B, 100, 16);
  expect(world.pending.map(({ effect }) => effect)).toMatchObject([{ type: "unload", model: "a" }]);
  expect(world.state.models.get("a")!.placement).not.toBeNull();
  world.settle(0, true);
  expect(world.pending.map(({ effect }) => effect)).toMatchObject([{ type: "load", model: "b" }]);
  world.settle(0, true);
  expect(world.running.has(next)).toBe(true);
});

it("is waited for after an engine that died, as after one that was unloaded", async () => {
  const { engine, plans, die } = scriptedEngine();
  let back = () => {};
  const released = new Promise<void>((resolve) => {
    back = resolve;
  });
  const gone: string[] = [];
  const { scheduler, model } = scheduling(engine, {
    memory: hostMemory(100_000),
    onGone: async (id) => {
      gone.push(id);
      await released;
    },
  });
  const planned = {
    ...model,
    terms: { ...model.terms, memory: memoryTerms("m", 60_000) },
  };
  const wait = { keepAliveMs: null, signal: new AbortController().signal };
  (await scheduler.admit(planned, request(), wait)).release();
  die();
  await expect.poll(() => gone).toEqual(["m"]);
  const again = scheduler.admit(planned, request(), wait);
  expect(scheduler.activity("m").phase).toBe("unloading");
  expect(plans).toHaveLength(1);
  back();
  (await again).release();
  expect(plans).toHaveLength(2);
  await scheduler.close();
});
