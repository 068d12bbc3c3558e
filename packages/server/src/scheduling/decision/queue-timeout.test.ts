import { expect, it } from "vitest";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";

const ONE_SLOT = terms("a", 1, { slots: 1 });

function tick(world: World, ms: number): void {
  world.at += ms;
  world.send({ type: "tick" });
}

it("refuses a request whose turn does not come in time, and leaves the others", () => {
  const world = new World(null, { queueTimeoutMs: 1_000 });
  const running = world.arrive(ONE_SLOT, 100, 16);
  world.settle(0, true);
  const waits = world.arrive(ONE_SLOT, 100, 16);
  world.at += 1;
  const later = world.arrive(ONE_SLOT, 100, 16);
  expect(world.timer).toBe(1_000);
  tick(world, 999);
  expect(world.ended.get(waits)).toBe("request_timeout");
  expect(world.timer).toBe(1_001);
  world.finish(running);
  expect(world.running.has(later)).toBe(true);
});

it("goes by the request's own time where it has one, and tells it apart", () => {
  const world = new World(null, { queueTimeoutMs: 1_000 });
  world.arrive(ONE_SLOT, 100, 16);
  world.settle(0, true);
  const longer = world.arrive(ONE_SLOT, 100, 16, undefined, null, { queueTimeoutMs: 5_000 });
  tick(world, 4_999);
  expect(world.ended.has(longer)).toBe(false);
  tick(world, 1);
  expect(world.ended.get(longer)).toBe("queue_timeout");
});

it("lets those in that have waited for it alone", () => {
  const world = new World();
  const urgent = { queueTimeoutMs: 50, workload: "interactive" } as const;
  const behind = world.arrive(terms("b", 1), 100, 16);
  const counts = world.arrive(terms("b", 1), 7_000, 3_000, undefined, null, urgent);
  world.settle(0, true);
  expect(world.pending.map(({ effect }) => effect.type)).toEqual(["count"]);
  tick(world, 50);
  expect(world.ended.get(counts)).toBe("queue_timeout");
  expect(world.running.has(behind)).toBe(true);
});

it("lets a request wait that is told a longer time than it has: it may come earlier", () => {
  const world = new World();
  world.serve(ONE_SLOT, { holdMs: 1_000 });
  const running = world.arrive(ONE_SLOT, 100, 16);
  const own = { queueTimeoutMs: 500 };
  const waits = [1, 2].map(() => world.arrive(ONE_SLOT, 100, 16, undefined, null, own));
  expect(waits.map((one) => world.estimates.get(one))).toEqual([1_000, 2_000]);
  world.at += 400;
  world.finish(running);
  expect(world.running.has(waits[0]!)).toBe(true);
  tick(world, 100);
  expect(world.ended.get(waits[1]!)).toBe("queue_timeout");
});

it("leaves the loading of the model out", () => {
  const world = new World(null, { queueTimeoutMs: 1_000 });
  world.arrive(ONE_SLOT, 100, 16);
  const waits = world.arrive(ONE_SLOT, 100, 16);
  tick(world, 60_000);
  world.settle(0, true);
  tick(world, 999);
  expect(world.ended.has(waits)).toBe(false);
  tick(world, 1);
  expect(world.ended.get(waits)).toBe("request_timeout");
});

it("tells the client so, and the slot's owner is not disturbed", async () => {
  const { scheduler, model } = scheduling(scriptedEngine().engine);
  const { signal } = new AbortController();
  const lease = await scheduler.admit(model, request(), { keepAliveMs: null, signal });
  const options = { keepAliveMs: null, signal, queueTimeoutMs: 5 };
  await expect(scheduler.admit(model, request(), options)).rejects.toMatchObject({
    code: "queue_timeout",
    kind: { status: 408 },
    message: "The request's turn for m did not come within 0.005 s.",
  });
  expect(scheduler.activity("m")).toMatchObject({ activeLeases: 1, queued: 0 });
  lease.release();
  await scheduler.close();
});
