import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { ModelTerms } from "../state/state.js";

const A = terms("a", 1_000, { heavy: true });
const B = terms("b", 1_000, { heavy: true });
const HELPER = terms("embeddings", 1_000);

function loaded(models: readonly ModelTerms[], limits = { lane: true }): World {
  const world = new World(hostMemory(100_000), limits);
  for (const model of models) {
    world.serve(model);
  }
  return world;
}

const arrive = (world: World, model: ModelTerms) => world.arrive(model, 100, 16);

it("lets one model's requests compute at a time, several of them, and helpers beside", () => {
  const world = loaded([A, B, HELPER]);
  const a = [arrive(world, A), arrive(world, A)];
  const b = arrive(world, B);
  const helper = arrive(world, HELPER);
  expect([...world.running.keys()]).toEqual([...a, helper]);
  world.finish(a[0]!);
  expect(world.running.has(b)).toBe(false);
  world.finish(a[1]!);
  expect(world.running.has(b)).toBe(true);
});

it("is not there for what computes on a device, and where it is off", () => {
  const off = loaded([A, B], { lane: false });
  const both = [arrive(off, A), arrive(off, B)];
  expect([...off.running.keys()]).toEqual(both);
  const devices = loaded([A, B]);
  for (const model of devices.state.models.values()) {
    model.placement = { ...model.placement!, kind: "gpu" };
  }
  expect([arrive(devices, A), arrive(devices, B)]).toEqual([...devices.running.keys()]);
});

it("does not starve one model's request behind another's stream, nor change for each request", () => {
  const world = loaded([A, B]);
  let running = arrive(world, A);
  const b = arrive(world, B);
  const before: number[] = [];
  while (!world.running.has(b)) {
    world.at += 300;
    const next = arrive(world, A);
    world.finish(running);
    before.push(running);
    running = next;
    expect(before.length).toBeLessThan(30);
  }
  // Those that came within two seconds after it went first, as a batch.
  expect(world.at).toBeGreaterThan(2_000);
  expect(world.at).toBeLessThan(4_000);
  const later = arrive(world, B);
  world.finish(b);
  expect(world.running.has(running) || world.running.has(later)).toBe(true);
  world.settleAll();
  expect(world.ended.get(running)).toBe("done");
});

it("is shared with the next one beside a request that has it for long", () => {
  const world = loaded([A, B]);
  const long = arrive(world, A);
  const b = arrive(world, B);
  expect(world.timer).toBe(world.at + 10_000);
  world.at += 10_000;
  world.send({ type: "tick" });
  expect([...world.running.keys()]).toEqual([long, b]);
});

it("is free again when what held it ends in whatever way", () => {
  const world = loaded([A, B]);
  const a = arrive(world, A);
  const b = arrive(world, B);
  world.send({ type: "engineExited", model: "a" });
  expect(world.running.has(b)).toBe(false);
  world.finish(a, false);
  expect(world.running.has(b)).toBe(true);
});
